import { createHmac } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { auditLog } from '../db/schema.ts';

export type AuditRow = typeof auditLog.$inferSelect;
type SignedFields = Omit<AuditRow, 'sequence' | 'rowMac' | 'chainHash'>;

const HASH_BYTES = 32;
const SEQUENCE_BYTES = 8;

/** Stands for the chain hash before the first entry. */
export const CHAIN_START: Buffer = Buffer.alloc(HASH_BYTES);

/** HMAC-SHA256 over the row in canonical JSON (RFC 8785), without its place in the chain. */
export function macOfRow(key: Buffer, row: SignedFields): Buffer {
  const { id, at, actorKind, actorId, actorName, address, action } = row;
  const { subjectKind, subjectId, subjectName, before, after, requestId } = row;
  const text = canonicalize({
    id,
    at: at.toISOString(),
    actorKind,
    actorId,
    actorName,
    address,
    action,
    subjectKind,
    subjectId,
    subjectName,
    before,
    after,
    requestId,
  });
  if (text === undefined) throw new TypeError('The entry has no canonical form');
  return createHmac('sha256', key).update(text).digest();
}

/** HMAC-SHA256 over the chain hash of the entry before, the sequence (64 bits, big-endian) and the row's HMAC. */
export function chainHashOf(
  key: Buffer,
  { previous, sequence, rowMac }: { previous: Buffer; sequence: number; rowMac: Buffer },
): Buffer {
  const place = Buffer.alloc(SEQUENCE_BYTES);
  place.writeBigInt64BE(BigInt(sequence));
  return createHmac('sha256', key).update(previous).update(place).update(rowMac).digest();
}
