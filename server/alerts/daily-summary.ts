import { sql } from 'drizzle-orm';
import { D, toPlain } from '#domain/decimal.ts';
import type { Deps } from '#server/deps.ts';
import { calendarDay, dayStart } from '#server/platform/day-start.ts';
import { type NoticeEvent, noteEvents } from '#server/platform/notices/note-event.ts';
import { findState, markTold } from './notice-states.store.ts';
import { signedMoney } from './notice-text.ts';

const STATE = 'daily summary';

interface DayOfUser {
  [field: string]: unknown;
  userId: string;
  filled: number;
  failed: number;
  closed: number;
  net: string;
}

/** After midnight in the display time zone: what the day before has brought, to each user and to the administrators. */
export async function summarizeDay({
  db,
  clock,
  config,
}: Pick<Deps, 'clock' | 'config' | 'db'>): Promise<void> {
  const now = clock.now();
  const end = dayStart(now, config.displayTimezone);
  const state = await findState(db, STATE);
  if (state !== null && state.toldAt >= end) return;
  const from = dayStart(new Date(end.getTime() - 1), config.displayTimezone);
  // The first day of an installation has no day before it.
  const days = state === null ? [] : await readDay(db, { from, end });
  await db.transaction(async (tx) => {
    await markTold(tx, { key: STATE, now });
    await noteEvents(tx, eventsOf(days, { day: calendarDay(from, config.displayTimezone), now }));
  });
}

async function readDay(db: Deps['db'], { from, end }: { from: Date; end: Date }): Promise<DayOfUser[]> {
  const { rows } = await db.execute<DayOfUser>(sql`
    select user_id as "userId", sum(filled)::int as filled, sum(failed)::int as failed, sum(closed)::int as closed,
      sum(net)::text as net
    from (
      select user_id, count(*) filter (where success) as filled, count(*) filter (where not success) as failed,
        0 as closed, 0 as net
      from trades where completed_at >= ${from} and completed_at < ${end} group by user_id
      union all
      select user_id, 0, 0, count(*), coalesce(sum(realised_profit - coalesce(fees, 0)), 0)
      from closed_positions where closed_at >= ${from} and closed_at < ${end} group by user_id
    ) as day
    group by user_id`);
  return rows;
}

function eventsOf(days: readonly DayOfUser[], { day, now }: { day: string; now: Date }): NoticeEvent[] {
  if (days.length === 0) return [];
  const sum = (pick: (one: DayOfUser) => number) => days.reduce((total, one) => total + pick(one), 0);
  const net = toPlain(days.reduce((total, one) => total.plus(one.net), D(0)));
  const event = (
    userId: string | null,
    figures: { filled: number; failed: number; closed: number; net: string },
  ) => ({
    code: 'daily_summary' as const,
    userId,
    at: now,
    data: { day, ...figures, net: signedMoney(figures.net) },
  });
  const all = event(null, {
    filled: sum(({ filled }) => filled),
    failed: sum(({ failed }) => failed),
    closed: sum(({ closed }) => closed),
    net,
  });
  const who = days.length === 1 ? '1 user' : `${days.length} users`;
  return [
    { ...all, data: { ...all.data, who } },
    ...days.map(({ userId, filled, failed, closed, net: own }) => {
      const one = event(userId, { filled, failed, closed, net: own });
      return { ...one, data: { ...one.data, who: 'your account' } };
    }),
  ];
}
