import { sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import {
  createEntryBook,
  type EntryFigures,
  type OpenEntry,
  type Room,
  type ScopeLimits,
  type WantedEntry,
} from '#domain/limits/check-entry.ts';
import { NO_LIMITS, type RiskLimits, type RiskScope } from '#domain/limits/risk-limits.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import type { Tx } from '#server/platform/db/database.ts';

/** An order that opens something. */
export interface LimitedOrder {
  userId: string;
  signalId: string;
  token: string;
}

/** What the limits leave of an entry. */
export type Admission =
  | { ok: true }
  | { ok: 'smaller'; room: Room; otherwise: Denial }
  | { ok: false; denial: Denial };

type Sized = Pick<WantedEntry, 'side' | 'quantity' | 'entryPrice' | 'stopLoss' | 'equity'>;

/** The entries of one transaction, judged one after the other: each that is added counts for the next. */
export interface EntryBook {
  /** Without a size: an order that is counted already, which only a stop of entries holds back. */
  judge(order: LimitedOrder, sized: Sized | null): Admission;
  add(order: LimitedOrder, sized: Sized): void;
}

/**
 * What new orders are checked against; null when no limits concern them. One statement, in the transaction that writes
 * the orders: it locks the limits first, so entries of one scope are checked one after the other on all instances.
 */
export async function readEntryBook(
  tx: Tx,
  options: {
    orders: readonly LimitedOrder[];
    now: Date;
    exchangeMode: ExchangeMode;
  },
): Promise<EntryBook | null> {
  const { orders, now, exchangeMode } = options;
  const entries = orders.map(({ userId, signalId }) => ({ userId, signalId }));
  const wanted = JSON.stringify({ entries, now, mode: exchangeMode });
  const { rows } = await tx
    .execute<{ figures: StoredFigures | null }>(sql`select risk_figures(${wanted}::jsonb) as figures`)
    .execute();
  const stored = rows[0]?.figures ?? null;
  if (stored === null) return null;
  const { processors } = stored;
  const { open, counts, equities } = stored;
  const book = createEntryBook({
    limits: (stored.limits ?? []).map(toScopeLimits),
    figures: { open: open ?? [], counts: counts ?? [], equities: equities ?? [] },
    now,
  });
  const wantedOf = (
    { userId, signalId, token }: LimitedOrder,
    sized: Sized,
    isFirst: boolean,
  ): WantedEntry => ({ ...sized, userId, token, processor: processors[signalId] ?? '', isFirst });
  return {
    judge: (order, sized) => book.judge(wantedOf(order, sized ?? NO_SIZE, sized !== null)),
    add: (order, sized) => book.add(wantedOf(order, sized, true)),
  };
}

const NO_SIZE: Sized = { side: 'buy', quantity: '0', entryPrice: '0', stopLoss: '0', equity: null };

/** As `risk_figures` returns it: an empty list is null, and instants are texts. */
interface StoredFigures {
  processors: Record<string, string>;
  limits: StoredLimits[] | null;
  open: OpenEntry[] | null;
  counts: EntryFigures['counts'] | null;
  equities: EntryFigures['equities'] | null;
}

interface StoredLimits {
  scope: RiskScope;
  limits: RiskLimits;
  unknown: Record<string, string> | null;
  watchedAt: string | null;
  breaches: { limit: string; saw: string; maximum: string; until: string | null }[] | null;
}

const toScopeLimits = ({ scope, limits, unknown, watchedAt, breaches }: StoredLimits): ScopeLimits => ({
  scope,
  // Limits that were stored before a field came do not have it.
  limits: { ...NO_LIMITS, ...limits },
  watched: watchedAt === null ? null : { at: new Date(watchedAt), unknown: unknown ?? {} },
  breaches: (breaches ?? []).map(({ until, ...breach }) => ({
    ...breach,
    until: until === null ? null : new Date(until),
  })),
});

/**
 * Why an entry in place of the position that is held would not be allowed; null if it would, as far as that is known
 * before its size is: what is held is not closed for an entry that will not come.
 */
export async function denyReversal(
  tx: Tx,
  options: { order: LimitedOrder; side: 'buy' | 'sell'; now: Date; exchangeMode: ExchangeMode },
): Promise<Denial | null> {
  const { order, side, now, exchangeMode } = options;
  const book = await readEntryBook(tx, { orders: [order], now, exchangeMode });
  const admission = book?.judge(order, { ...NO_SIZE, side });
  return admission?.ok === false ? admission.denial : null;
}
