import type { HookKey } from './known-keys.ts';
import { payloadHash } from './payload-hash.ts';
import type { CandleFields, SignalFields } from './read-delivery.ts';
import type { Payload, Refusal } from './read-payload.ts';

export interface Delivery<Content extends DeliveryContent = DeliveryContent> {
  key: HookKey;
  sourceIp: string;
  receivedAt: Date;
  content: Content;
}

export type DeliveryContent =
  | SignalContent
  | CandleContent
  | { kind: 'refused'; deliveredTo: 'signal' | 'candle'; refusal: Refusal };

interface SignalContent {
  kind: 'signal';
  payload: Payload;
  fields: SignalFields;
}

interface CandleContent {
  kind: 'candle';
  payload: Payload;
  fields: CandleFields;
}

/** A usable delivery on its way into the database. Gets its id inside the transaction (docs/decisions/0010). */
export interface Arrival<Content extends SignalContent | CandleContent = SignalContent | CandleContent> {
  hookId: string;
  hashValue: string;
  delivery: Delivery<Content>;
}
export type ArrivedSignal = Arrival<SignalContent>;
export type ArrivedCandle = Arrival<CandleContent>;

export const isSignal = (delivery: Delivery): delivery is Delivery<SignalContent> =>
  delivery.content.kind === 'signal';
export const isCandle = (delivery: Delivery): delivery is Delivery<CandleContent> =>
  delivery.content.kind === 'candle';

export function arrivalOf<Content extends SignalContent | CandleContent>(
  hookId: string,
  delivery: Delivery<Content>,
): Arrival<Content> {
  const { kind, payload } = delivery.content;
  return { hookId, hashValue: payloadHash({ hookId, kind, payload }), delivery };
}

/**
 * Of a batch those that one statement can store, in their order, and the webhooks that it has to look for, each with
 * its key's hash. The second of two equal ones is a duplicate of the first. A webhook's old key, just renewed, may come
 * along with its new one: which of them opens something, the next statement finds out.
 */
export function firstOfEachHash<One extends Arrival>(
  arrivals: readonly One[],
): { first: One[]; keys: Map<string, Buffer> } {
  const keys = new Map<string, Buffer>();
  const taken = new Set<string>();
  const first = arrivals.filter(({ hookId, hashValue, delivery: { key } }) => {
    if (taken.has(hashValue) || !(keys.get(hookId) ?? key.hash).equals(key.hash)) return false;
    taken.add(hashValue);
    keys.set(hookId, key.hash);
    return true;
  });
  return { first, keys };
}

/** What became of the first of each hash, in the places of all. */
export function inTheirPlaces<One extends Arrival>(
  arrivals: readonly One[],
  first: readonly One[],
  stored: readonly (string | null)[],
): (string | null)[] {
  const ids = new Map(first.map((arrival, index) => [arrival, stored[index] ?? null]));
  return arrivals.map((arrival) => ids.get(arrival) ?? null);
}
