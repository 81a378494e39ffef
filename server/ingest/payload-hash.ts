import { hash } from 'node:crypto';
import type { DeliveryKind } from './read-delivery.ts';
import type { Payload } from './read-payload.ts';

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
