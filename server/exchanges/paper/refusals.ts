import type { Decimal } from '#domain/decimal.ts';
import type { PlanType } from './book.ts';

/** Why the books refuse something, before any exchange puts it in its own words. */
export type RefusalReason =
  | { kind: 'position-mode' }
  | { kind: 'off-step'; field: 'size' | 'price' | 'stop loss' | 'take profit'; value: Decimal; step: string }
  | { kind: 'price-missing' }
  | { kind: 'no-market-price' }
  | { kind: 'below-minimum-quantity'; minimum: string }
  | { kind: 'below-minimum-notional'; minimum: string }
  | { kind: 'wrong-side'; planType: PlanType; side: 'long' | 'short'; trigger: Decimal; price: Decimal }
  | { kind: 'duplicate-client-order-id' }
  | { kind: 'no-position' }
  | { kind: 'balance' }
  | { kind: 'leverage-too-high'; leverage: number; maximum: number }
  | { kind: 'order-unknown' }
  | { kind: 'order-ended' }
  | { kind: 'fault'; code?: string | undefined; message?: string | undefined }
  | { kind: 'business-open'; setting: 'position mode' | 'margin mode'; because: 'position' | 'order' };

/** Thrown by the books; a dialect answers it with its exchange's own code and words. */
export class BookRefusal extends Error {
  override readonly name = 'BookRefusal';
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason) {
    super(reason.kind);
    this.reason = reason;
  }
}

/** What a dialect answers for a refusal. */
export interface RefusalWords {
  code: string;
  message: string;
  /** Where the exchange says more than a code and a sentence. */
  details?: unknown;
}

/** Answered as the exchange would; what was settled before it stays settled. */
export class PaperRefusal extends Error {
  override readonly name = 'PaperRefusal';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const isRefusal = (error: unknown): error is PaperRefusal | BookRefusal =>
  error instanceof PaperRefusal || error instanceof BookRefusal;

/** The code and words of a refusal; null for what is none. */
export function refusalWords(
  error: unknown,
  inWords: (reason: RefusalReason) => RefusalWords,
): RefusalWords | null {
  if (error instanceof PaperRefusal) return error;
  return error instanceof BookRefusal ? inWords(error.reason) : null;
}

/** Thrown where a fault makes the connection break instead of an answer. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost';
}
