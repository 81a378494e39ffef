import { createHash } from 'node:crypto';
import type { DeliveryKind } from './read-delivery.ts';
import type { Payload } from './read-payload.ts';

/** `hashValue` of decisions §5: SHA-256 (hex) over hook id, kind and the payload with sorted keys. */
export function payloadHash(options: { hookId: string; kind: DeliveryKind; payload: Payload }): string {
  const { hookId, kind, payload } = options;
  return createHash('sha256')
    .update(JSON.stringify([hookId, kind, sortKeys(payload)]))
    .digest('hex');
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}
