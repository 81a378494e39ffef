import { payloadHash } from './payload-hash.ts';
import type { DeliveryKind } from './read-delivery.ts';
import type { Payload } from './read-payload.ts';

/** Whose webhook it came through. `fromAdmin`: its data counts for everybody. */
export interface Hook {
  id: string;
  userId: string;
  fromAdmin: boolean;
}

/** A usable delivery on its way into the database, with the id that it gets if it is the first of its hash. */
export interface Arrival<Fields> {
  /** Its place in the batch. */
  index: number;
  id: string;
  hashValue: string;
  hook: Hook;
  fields: Fields;
  receivedAt: Date;
  sourceIp: string;
}

export const hashOf = (hook: Hook, content: { kind: DeliveryKind; payload: Payload }): string =>
  payloadHash({ hookId: hook.id, kind: content.kind, payload: content.payload });

/** The first of each hash, sorted by it: two batches that share hashes then wait for each other in one order. */
export function firstOfEachHash<One extends { hashValue: string }>(arrivals: readonly One[]): One[] {
  const first = new Map<string, One>();
  for (const arrival of arrivals) if (!first.has(arrival.hashValue)) first.set(arrival.hashValue, arrival);
  return [...first.values()].sort((left, right) => (left.hashValue < right.hashValue ? -1 : 1));
}
