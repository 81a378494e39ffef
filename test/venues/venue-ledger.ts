import { and, eq, sql } from 'drizzle-orm';
import { D, type Decimal } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { BookOwner, PaperOrder } from '#server/exchanges/paper/book.ts';
import { listFills, ordersById, type StoredFill } from '#server/exchanges/paper/paper-queries.ts';
import { paperAccounts } from '#server/exchanges/paper/paper-schema.ts';
import type { Statements } from '#server/platform/db/database.ts';

/** What moves a wallet beside fills; the books do not know it. Withdrawals, and funding that is paid, are negative. */
export interface WalletMovement {
  userId: string;
  platform: ExchangePlatform;
  at: Date;
  kind: 'deposit' | 'withdrawal' | 'funding';
  /** Of funding. */
  token?: string;
  amount: string;
}

/** One record of an exchange's ledger. Ids ascend with time. */
export interface LedgerRow {
  id: bigint;
  at: Date;
  kind: 'fill' | WalletMovement['kind'];
  token: string | null;
  fill: StoredFill | null;
  order: PaperOrder | null;
  /** Without the fee. */
  amount: Decimal;
  fee: Decimal;
  /** Of the wallet, after the record. */
  balance: Decimal;
}

/** Books the movement, and changes the balance of the account. */
export async function bookMovement(
  db: Statements,
  movements: WalletMovement[],
  movement: WalletMovement,
): Promise<void> {
  movements.push(movement);
  await db
    .update(paperAccounts)
    .set({ balance: sql`balance + ${movement.amount}::numeric` })
    .where(and(eq(paperAccounts.userId, movement.userId), eq(paperAccounts.platform, movement.platform)));
}

const IDS_A_MILLISECOND = 10_000n;

/** The whole ledger of the account, oldest first: what it began with, movements and fills. */
export async function ledgerOf(
  db: Statements,
  { userId, platform }: BookOwner,
  movements: readonly WalletMovement[],
): Promise<LedgerRow[]> {
  const owner = { userId, platform };
  const [account] = await db
    .select()
    .from(paperAccounts)
    .where(and(eq(paperAccounts.userId, userId), eq(paperAccounts.platform, platform)));
  if (account === undefined) return [];
  const fills = await listFills(db, owner);
  const orders = await ordersById(db, owner, [...new Set(fills.map(({ orderId }) => orderId))]);
  const moved = movements.filter((one) => one.userId === userId && one.platform === platform);
  const begun = D(account.balance)
    .minus(account.realisedProfit)
    .plus(account.feesPaid)
    .minus(moved.reduce((sum, { amount }) => sum.plus(amount), D(0)));
  const none = { token: null, fill: null, order: null, fee: D(0) };
  const rows = [
    { ...none, at: account.openedAt, kind: 'deposit' as const, amount: begun },
    ...moved.map(({ at, kind, token = null, amount }) => ({ ...none, at, kind, token, amount: D(amount) })),
    ...fills.map((fill) => ({
      ...{ at: fill.createdAt, kind: 'fill' as const, token: fill.token, fill },
      ...{ order: orders.get(fill.orderId)?.order ?? null, amount: fill.profit, fee: fill.fee },
    })),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
  let [balance, lastMs, within] = [D(0), -1, 0n];
  return rows.map((row) => {
    const ms = row.at.getTime();
    [lastMs, within] = [ms, ms === lastMs ? within + 1n : 0n];
    balance = balance.plus(row.amount).minus(row.fee);
    return { ...row, id: BigInt(ms) * IDS_A_MILLISECOND + within, balance };
  });
}

/** A page of a period (both ends included), newest first. */
export const ledgerPage = (
  rows: readonly LedgerRow[],
  { from, to, before, limit }: { from: Date; to: Date; before: bigint | null; limit: number },
): LedgerRow[] =>
  rows
    .filter(({ at, id }) => at >= from && at <= to && (before === null || id < before))
    .toReversed()
    .slice(0, limit);
