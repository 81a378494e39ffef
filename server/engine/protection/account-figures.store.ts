import { sql } from 'drizzle-orm';
import type { OpenPositionView } from '#contract/positions.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { Db, Queryable } from '#server/platform/db/database.ts';
import { accountFigures, equitySnapshots, type PositionFigures } from '#server/platform/db/schema.ts';
import type { AccountKey } from './positions.store.ts';

type ReadPosition = Pick<
  OpenPositionView,
  'tradeId' | 'processor' | 'quantity' | 'markPrice' | 'stopLoss' | 'unrealisedProfit'
>;

/** The positions of ours among those that an account shows. */
export const ownFigures = (open: readonly ReadPosition[]): PositionFigures[] =>
  open.flatMap(({ tradeId, processor, quantity, markPrice, stopLoss, unrealisedProfit }) =>
    tradeId === null || processor === null
      ? []
      : [
          {
            tradeId,
            strategy: processor.trim().toLowerCase(),
            quantity,
            markPrice,
            stopLoss,
            openProfit: unrealisedProfit,
          },
        ],
  );

/** What a reading of the account showed. `at`: when its request was made; an older reading than the known one is dropped. */
export async function recordPositionFigures(
  db: Queryable,
  reading: AccountKey & { open: readonly ReadPosition[]; exchangeMode: ExchangeMode; at: Date },
): Promise<void> {
  const { userId, exchangePlatform, exchangeMode, open, at } = reading;
  await db
    .insert(accountFigures)
    .values({ userId, exchangePlatform, exchangeMode, positions: ownFigures(open), positionsAt: at })
    .onConflictDoUpdate({
      target: [accountFigures.userId, accountFigures.exchangePlatform],
      set: {
        exchangeMode: sql`excluded.exchange_mode`,
        positions: sql`excluded.positions`,
        positionsAt: sql`excluded.positions_at`,
        // The equity of an account of another mode is another one.
        equity: sql`case when ${accountFigures.exchangeMode} = excluded.exchange_mode then ${accountFigures.equity} end`,
      },
      setWhere: sql`${accountFigures.positionsAt} <= excluded.positions_at`,
    });
}

export type NewSnapshot = typeof equitySnapshots.$inferInsert;

/** Adds the snapshot, and makes its equity the known one of the account. */
export async function recordSnapshot(db: Db, snapshot: NewSnapshot): Promise<void> {
  const { userId, exchangePlatform, exchangeMode, positions, at, equity } = snapshot;
  await db.transaction(async (tx) => {
    await tx.insert(equitySnapshots).values(snapshot);
    await tx
      .insert(accountFigures)
      .values({ userId, exchangePlatform, exchangeMode, positions, positionsAt: at, equity, equityAt: at })
      .onConflictDoUpdate({
        target: [accountFigures.userId, accountFigures.exchangePlatform],
        set: { equity: sql`excluded.equity`, equityAt: sql`excluded.equity_at` },
      });
  });
}

export type SnapshotReason = NewSnapshot['takenFor'];

/** The accounts among these that need a snapshot, and why. */
export async function listDueSnapshots(
  db: Db,
  options: {
    accounts: readonly AccountKey[];
    exchangeMode: ExchangeMode;
    /** When the day of the display zone and the hour began. */
    dayStart: Date;
    hourStart: Date;
    /** Positions whose end was recorded later wait. */
    endedBefore: Date;
  },
): Promise<(AccountKey & { takenFor: SnapshotReason })[]> {
  const { accounts, exchangeMode, dayStart, hourStart, endedBefore } = options;
  const asked = accounts.map(({ userId, exchangePlatform }) => ({ userId, exchangePlatform }));
  const { rows } = await db.execute<{
    userId: string;
    exchangePlatform: string;
    takenFor: SnapshotReason | null;
  }>(sql`
    select account."userId", account."exchangePlatform", case
      when last.at is null or last.at < ${dayStart} then 'day'
      when last.at < ${hourStart} then 'hour'
      when exists (
        select from closed_positions as closed
        where closed.user_id = account."userId" and closed.exchange_platform = account."exchangePlatform"
          and closed.closed_at >= last.at - interval '1 day' and closed.recorded_at > last.at
          and closed.recorded_at <= ${endedBefore}) then 'trade'
      end as "takenFor"
    from json_to_recordset(${JSON.stringify(asked)}::json) as account ("userId" uuid, "exchangePlatform" text)
    left join lateral (
      select snapshot.at from equity_snapshots as snapshot
      where snapshot.user_id = account."userId" and snapshot.exchange_platform = account."exchangePlatform"
        and snapshot.exchange_mode = ${exchangeMode}
      order by snapshot.at desc limit 1) as last on true`);
  return rows.flatMap(({ takenFor, ...account }) => (takenFor === null ? [] : [{ ...account, takenFor }]));
}
