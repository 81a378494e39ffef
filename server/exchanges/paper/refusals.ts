import type { Decimal } from '#domain/decimal.ts';
import type { WholePlan } from './book.ts';

/** Why the books refuse a request, independent of the platform. */
export type RefusalReason =
  | { kind: 'position-mode' }
  | { kind: 'off-step'; field: 'size' | 'price' | 'stop loss' | 'take profit'; value: Decimal; step: string }
  | { kind: 'price-missing' }
  | { kind: 'no-market-price' }
  | { kind: 'below-minimum-quantity'; minimum: string }
  | { kind: 'below-minimum-notional'; minimum: string }
  | { kind: 'wrong-side'; planType: WholePlan; side: 'long' | 'short'; trigger: Decimal; price: Decimal }
  | { kind: 'duplicate-client-order-id' }
  | { kind: 'no-position' }
  | { kind: 'balance' }
  | { kind: 'leverage-too-high'; leverage: number; maximum: number }
  | { kind: 'order-unknown' }
  | { kind: 'order-ended' }
  | { kind: 'business-open'; setting: 'position mode' | 'margin mode'; because: 'position' | 'order' };

/** Ends work on an account before it has changed anything; the preceding settlement is saved. */
export class Refusal extends Error {}

/** Thrown by the books; the platform supplies the message. */
export class BookRefusal extends Refusal {
  override readonly name = 'BookRefusal';
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason) {
    super(reason.kind);
    this.reason = reason;
  }
}

/** A refusal in the platform's wording. */
export interface RefusalWords {
  code: string;
  message: string;
  /** Set where the exchange returns more than a code and a message. */
  details?: unknown;
}
