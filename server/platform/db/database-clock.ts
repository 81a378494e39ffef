import { sql } from 'drizzle-orm';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Db } from './database.ts';

export interface DatabaseClock {
  /** The machine's clock, corrected by the database's. */
  clock: Clock;
  /** Asks the database for its time. Keeps what was measured before if it does not answer. */
  measure(): Promise<void>;
  /** Measures every five seconds until the returned function is called. */
  start(): () => void;
}

const MEASURE_EVERY_MS = 5_000;
/** Clocks that differ less are left alone; due times and the order of events bear it. */
const TOLERANCE_MS = 1_000;

/**
 * Gives instances one time where the clock of a machine is wrong: the time of the database that they share. Otherwise
 * what one instance plans would be due at once for another, or late, and events would be out of order.
 */
export function createDatabaseClock(options: {
  clock: Clock;
  db: Pick<Db, 'execute'>;
  log: Pick<Logger, 'warn'>;
}): DatabaseClock {
  const { clock, db, log } = options;
  let aheadMs = 0;

  async function measure(): Promise<void> {
    const sentMs = clock.now().getTime();
    const { rows } = await db.execute<{ ms: string }>(
      sql`select extract(epoch from database_time()) * 1000 as ms`,
    );
    // The database read its clock at an unknown moment of the round trip.
    const doubtMs = (clock.now().getTime() - sentMs) / 2;
    const measuredMs = Number(rows[0]?.ms) - sentMs - doubtMs;
    // Negative: the machine's clock was set back meanwhile.
    if (doubtMs < 0 || Math.abs(measuredMs - aheadMs) <= TOLERANCE_MS + doubtMs) return;
    aheadMs = Math.abs(measuredMs) <= TOLERANCE_MS + doubtMs ? 0 : Math.round(measuredMs);
    if (aheadMs === 0) log.warn('the clock of this machine agrees with the database again');
    else {
      log.warn(
        { aheadMs },
        'the clock of this machine differs from the database’s, and times are taken from the database',
      );
    }
  }

  return {
    clock: { ...clock, now: () => new Date(clock.now().getTime() + aheadMs) },
    measure: () => measure().catch(() => undefined),
    start: () => clock.every(MEASURE_EVERY_MS, () => void measure().catch(() => undefined)),
  };
}
