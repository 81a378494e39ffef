import { sql } from 'drizzle-orm';
import type { Clock } from '#server/platform/clock.ts';
import type { Db } from '#server/platform/db/database.ts';
import type { VenueRequest } from '#test/venues/http.ts';

/** A period without a stop for a filled position at the exchange. */
export interface NakedTime {
  userId: string;
  ms: number;
  end: 'protected' | 'flat' | 'never';
}

export type ExchangeWatch = ReturnType<typeof watchExchange>;

interface Row extends Record<string, unknown> {
  user_id: string;
  token: string;
  opened_at: Date | string | null;
  has_stop: boolean;
  side: 'long' | 'short' | null;
  stop_price: string | null;
  live_entries: number;
}

/** Exchanges may round the price of a stop by a few ticks. */
const ROUNDED = 0.0001;

/**
 * One row for each user and token with a position or a live entry. A stop counts where an entry had it, or nearer; any
 * stop counts for a position that no entry opened.
 */
const BOOKS = sql`
  select coalesce(p.user_id, o.user_id) as user_id, coalesce(p.token, o.token) as token, p.opened_at,
    coalesce(o.live_entries, 0)::int as live_entries, p.side,
    (
      select t.trigger_price from paper_trigger_orders t
      where t.user_id = p.user_id and t.token = p.token and t.state = 'live' and t.plan_type = 'pos_loss'
    ) as stop_price,
    exists (
      select 1 from paper_trigger_orders t
      where t.user_id = p.user_id and t.token = p.token and t.state = 'live'
        and (t.plan_type = 'pos_loss' or (t.plan_type = 'loss_plan' and t.size >= p.size))
        and (planned.lowest is null or case p.side when 'long' then t.trigger_price >= planned.lowest else t.trigger_price <= planned.highest end)
    ) as has_stop
  from paper_positions p
  full join (
    select user_id, token, count(*) as live_entries from paper_orders
    where state in ('live', 'partially_filled') and not reduce_only
    group by user_id, token
  ) o on o.user_id = p.user_id and o.token = p.token
  left join lateral (
    select min(e.preset_stop_loss) * (1 - ${ROUNDED}::numeric) as lowest,
      max(e.preset_stop_loss) * (1 + ${ROUNDED}::numeric) as highest
    from paper_orders e
    where e.user_id = p.user_id and e.token = p.token and not e.reduce_only
      and e.side = case p.side when 'long' then 'buy' else 'sell' end
  ) planned on true`;

/** Checks the exchange's books repeatedly during a run: two live entries of a user, positions without a stop. */
export function watchExchange(options: {
  db: Db;
  /** Time as it really passes. */
  clock: Pick<Clock, 'now'>;
  /** How far the exchange's clock is ahead of it, in milliseconds. */
  aheadMs: () => number;
}) {
  const { db, clock, aheadMs } = options;
  const requests = new Map<string, number>();
  const doubleEntries: string[] = [];
  const nakedSince = new Map<string, { userId: string; since: Date }>();
  const covered = new Set<string>();
  const ended: NakedTime[] = [];
  const stops = new Map<string, { openedAt: number; price: number }>();
  /** Stops that went away from the price. */
  const stopsMovedBack: { userId: string; text: string }[] = [];
  let counts = true;

  function noteStop(
    key: string,
    { user_id: userId, opened_at: openedAt, side, stop_price: stop }: Row,
  ): void {
    if (openedAt === null || stop === null) return;
    const price = Number(stop);
    const at = new Date(openedAt).getTime();
    const before = stops.get(key);
    stops.set(key, { openedAt: at, price });
    if (before === undefined || before.openedAt !== at) return;
    const further = side === 'long' ? before.price - price : price - before.price;
    if (further <= price * ROUNDED) return;
    stopsMovedBack.push({ userId, text: `from ${before.price} to ${price}` });
  }

  function endNaked(key: string, end: NakedTime['end']): void {
    const naked = nakedSince.get(key);
    if (naked === undefined) return;
    nakedSince.delete(key);
    ended.push({ userId: naked.userId, ms: clock.now().getTime() - naked.since.getTime(), end });
  }

  let looks = Promise.resolve();
  /** One at a time: an older view must not come after a newer one. */
  function look(): Promise<void> {
    const own = looks.then(lookNow);
    looks = own.catch(() => undefined);
    return own;
  }

  async function lookNow(): Promise<void> {
    const { rows } = await db.execute<Row>(BOOKS);
    const held = new Set<string>();
    for (const row of rows) {
      const key = `${row.user_id} ${row.token}`;
      if (row.live_entries > 1) doubleEntries.push(`${row.live_entries} live entries of ${key}`);
      if (row.opened_at === null) continue;
      held.add(key);
      // One that is further than planned counts as missing, and may be moved on from there.
      if (row.has_stop) {
        noteStop(key, row);
        covered.add(key);
        endNaked(key, 'protected');
      } else if (!nakedSince.has(key)) {
        const openedAt = new Date(new Date(row.opened_at).getTime() - aheadMs());
        const since = covered.has(key) ? clock.now() : openedAt;
        nakedSince.set(key, { userId: row.user_id, since });
      }
    }
    for (const key of [...nakedSince.keys(), ...covered]) {
      if (held.has(key)) continue;
      endNaked(key, 'flat');
      covered.delete(key);
    }
  }

  return {
    /** Private requests by user. */
    requests,
    doubleEntries,
    stopsMovedBack,
    look,
    /** Requests from now on are not those of an entry. */
    stopCounting() {
      counts = false;
    },
    /** Counts a user's request and checks the books. */
    async sawRequest({ headers }: VenueRequest): Promise<void> {
      const key = headers['access-key'] ?? headers['x-bapi-api-key'];
      if (key === undefined) return;
      const userId = key.replace(/^paper-/, '');
      if (counts) requests.set(userId, (requests.get(userId) ?? 0) + 1);
      await look();
    },
    nakedTimes: (): NakedTime[] => [
      ...ended,
      ...[...nakedSince.values()].map(({ userId, since }) => ({
        userId,
        ms: clock.now().getTime() - since.getTime(),
        end: 'never' as const,
      })),
    ],
  };
}
