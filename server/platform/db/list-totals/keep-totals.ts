import { sql } from 'drizzle-orm';
import type { Clock } from '#server/platform/clock.ts';
import type { Db, Tx } from '#server/platform/db/database.ts';
import { eachAlone } from '#server/platform/each-alone.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import type { Logger } from '#server/platform/log.ts';
import { addUpList, MARGIN_MS } from './add-up-list.ts';
import { addUpOrders } from './add-up-orders.ts';
import { ADDED_UP, type CountedList, FIRST_ID, markOf, type Part } from './counted-lists.ts';
import { addUpOutcomes } from './keep-outcomes.ts';

const EVERY_MS = 10_000;

/**
 * Keeps adding up the lists, one instance at a time per list; returns a function that stops it. After a restore there
 * may be millions of rows to add up; until then the lists count the missing rows on request.
 */
export function startKeepingTotals({ db, clock, log }: { db: Db; clock: Clock; log: Logger }): () => void {
  let stopped = false;
  let running = false;
  let reportedLagMs = 0;

  async function run(): Promise<void> {
    const lagMs = await noteClockLag(db);
    if (lagMs > reportedLagMs) {
      log.error(
        { lagMs },
        "this machine's clock is behind the database's: totals of lists are slower to count",
      );
    }
    reportedLagMs = lagMs;
    const untilDone = async (step: () => Promise<boolean>) => {
      while (!stopped && (await step())) await new Promise(setImmediate);
    };
    await eachAlone(
      ADDED_UP,
      ({ list, what }) => untilDone(() => addUpList(db, list, { what })),
      (err, of) => log.warn({ err, ...of }, 'the totals of a list could not be added up'),
    );
    await untilDone(() => addUpOutcomes(db));
    await untilDone(() => addUpOrders(db));
  }

  function start(): void {
    if (stopped || running) return;
    running = true;
    run()
      .catch((error: unknown) => log.warn({ err: error }, 'the totals of lists could not be added up'))
      .finally(() => {
        running = false;
      });
  }

  const stopAdding = clock.every(EVERY_MS, start);
  start();
  return () => {
    stopped = true;
    stopAdding();
  };
}

const FORGOTTEN_AFTER = '1 day';

/**
 * An instance whose clock is behind the database's by more than the margin makes ids below those already added up, so
 * its rows would be missing from the totals. It notes its lag here: adding up then stays that far behind, and starts
 * over where it had got further. Returns the lag that is allowed because of this instance.
 */
export async function noteClockLag(
  db: Db,
  options: { idClock?: () => number; marginMs?: number } = {},
): Promise<number> {
  const { idClock = Date.now, marginMs = MARGIN_MS } = options;
  const { rows } = await db.execute<{ ms: string; allowed: string }>(sql`
    select extract(epoch from clock_timestamp()) * 1000 as ms,
      (select coalesce(sum(clock_lag_ms), 0) from counted_lists) as allowed`);
  const lagMs = Number(rows[0]?.ms ?? 0) - idClock();
  if (lagMs <= marginMs / 2) {
    if (Number(rows[0]?.allowed) > 0) {
      await db.execute(sql`
        update counted_lists set clock_lag_ms = 0
        where clock_lag_seen_at < now() - ${FORGOTTEN_AFTER}::interval`);
    }
    return 0;
  }
  const allowedMs = Math.ceil(lagMs / marginMs) * marginMs;
  await db.transaction(async (tx) => {
    for (const part of ADDED_UP) await stayBehind(tx, part, allowedMs, marginMs);
  });
  return allowedMs;
}

async function stayBehind(
  tx: Tx,
  { list, what }: { list: CountedList; what: Part },
  lagMs: number,
  marginMs: number,
): Promise<void> {
  const name = markOf(list, what);
  const { rows } = await tx.execute<{ counted_before: string; ms: string }>(sql`
    insert into counted_lists as known (list, counted_before, clock_lag_ms, clock_lag_seen_at)
    values (${name}, ${FIRST_ID}, ${lagMs}, now())
    on conflict (list) do update set
      clock_lag_ms = greatest(known.clock_lag_ms, excluded.clock_lag_ms), clock_lag_seen_at = now()
    returning counted_before, extract(epoch from clock_timestamp()) * 1000 - clock_lag_ms as ms`);
  const [mark] = rows;
  if (mark === undefined || mark.counted_before <= firstIdOf(new Date(Number(mark.ms) - marginMs))) return;
  await tx.execute(sql`update counted_lists set counted_before = ${FIRST_ID} where list = ${name}`);
  if (what === 'choices') {
    await tx.execute(sql`delete from list_choices where list = ${list}`);
    return;
  }
  await tx.execute(sql`delete from list_totals where list = ${list}`);
  await tx.execute(sql`delete from list_totals_by_month where list = ${list}`);
  if (list === 'signals') await tx.execute(sql`delete from signal_totals_by_quarter`);
}
