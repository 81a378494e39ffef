import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { hookKeyHashes } from '#server/admin/hooks/hook-keys.ts';
import type { SecretBox } from '#server/platform/secret-box.ts';
import type { CandleFields, DeliveryKind, SignalFields } from './read-delivery.ts';
import type { Payload, Refusal } from './read-payload.ts';

/** A webhook key as sent with deliveries. */
export interface HookKey {
  /** Look up the webhook, which is stored under one of them: two while SECRET_KEY is rotated. */
  hashes: readonly Buffer[];
  /** The webhook found at the last lookup; the storing statement checks that the key still opens it. */
  hookId: string | null;
}

const MAX_REMEMBERED = 2_000;

/** Remembers the hashes of recent keys, valid or not: a keyed hash takes as long as reading the delivery. */
export function createKnownKeys(box: SecretBox): (key: string) => HookKey {
  const remembered = new LRUCache<string, HookKey>({
    max: MAX_REMEMBERED,
    memoMethod: (key) => ({ hashes: hookKeyHashes(box, key), hookId: null }),
  });
  return (key) => remembered.memo(key);
}

/** Whether both look up the same webhook. */
export const isSameKey = (one: HookKey, other: HookKey): boolean =>
  one === other || one.hashes.some((hash) => other.hashes.some((another) => hash.equals(another)));

export interface Delivery<Content extends DeliveryContent = DeliveryContent> {
  key: HookKey;
  sourceIp: string;
  receivedAt: Date;
  content: Content;
}

export type DeliveryContent = SignalContent | CandleContent | RefusedContent;

interface RefusedContent {
  kind: 'refused';
  deliveredTo: DeliveryKind;
  refusal: Refusal;
  body: Uint8Array;
}

interface SignalContent {
  kind: 'signal';
  identity: Payload;
  fields: SignalFields;
}

interface CandleContent {
  kind: 'candle';
  identity: Payload;
  fields: CandleFields;
}

/** A usable delivery on its way to the database; it gets its id inside the transaction (docs/decisions/0010). */
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
  const { kind, identity } = delivery.content;
  return { hookId, hashValue: payloadHash({ hookId, kind, payload: identity }), delivery };
}

/** Spreads the stored ids of `first` over all arrivals, index for index; null for the others. */
export function inTheirPlaces<One extends Arrival>(
  arrivals: readonly One[],
  first: readonly One[],
  stored: readonly (string | null)[],
): (string | null)[] {
  const ids = new Map(first.map((arrival, index) => [arrival, stored[index] ?? null]));
  return arrivals.map((arrival) => ids.get(arrival) ?? null);
}

/** `hashValue`: SHA-256 (hex) over hook id, kind and the payload with sorted keys. */
export function payloadHash(options: { hookId: string; kind: DeliveryKind; payload: Payload }): string {
  const { hookId, kind, payload } = options;
  return hash('sha256', JSON.stringify([hookId, kind, sortKeys(payload)]), 'hex');
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(record).sort()) sorted[key] = sortKeys(record[key]);
  return sorted;
}
