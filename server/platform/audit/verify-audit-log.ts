import type { AuditAction } from '#contract/audit.ts';
import { type AuditRow, CHAIN_START, chainHashOf, macOfRow } from './audit-mac.ts';
import type { AuditTip } from './seal-audit-log.ts';

/** An action whose entry is the first that a new key signs. */
export const KEY_REPLACED = 'secret key replaced' satisfies AuditAction;

/** What the log said about the last sealed entry at some time. */
export interface Checkpoint {
  sequence: number;
  hash: string;
}

export interface VerifyOptions {
  /** The key of the newest entries. */
  key: Buffer;
  /** Keys from before a lost SECRET_KEY was replaced, if somebody kept them. */
  formerKeys?: readonly Buffer[];
  /** The first sequence that `key` signs: that of the newest valid entry about a replaced key, else 1. */
  keyFrom: number;
  checkpoint?: Checkpoint | null;
  /** Some entries are left out on purpose: each is checked by itself. */
  isFiltered?: boolean;
}

export type Verdict =
  | {
      isUnbroken: true;
      entries: number;
      /** Entries without a place in the chain yet. */
      unsealed: number;
      /** Entries of a former key that was not given: only their sequence was checked. */
      unchecked: number;
      /** Null without sealed entries. */
      tip: AuditTip | null;
    }
  | { isUnbroken: false; fault: Fault };

export interface Fault {
  kind: 'changed' | 'removed' | 'inserted' | 'moved';
  /** Null for an entry that is not sealed yet. */
  sequence: number | null;
  /** What is wrong with which entry, in one line. */
  text: string;
}

/** Finds the first fault. Rows come in the order of their sequence, those that are not sealed yet last. */
export async function verifyAuditLog(
  rows: AsyncIterable<AuditRow>,
  options: VerifyOptions,
): Promise<Verdict> {
  const { checkpoint = null } = options;
  const counts = { entries: 0, unsealed: 0, unchecked: 0 };
  let last: SealedRow | null = null;
  let sawCheckpoint = false;
  const iterator = rows[Symbol.asyncIterator]();
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    const row: AuditRow = next.value;
    counts.entries += 1;
    if (!isSealed(row)) {
      counts.unsealed += 1;
      if (!isSignedBy(options.key, row)) return broken(unsealedFault(row));
      continue;
    }
    if (isGap(row, last) && !options.isFiltered) return broken(await explainGap({ row, last, iterator }));
    const keys = row.sequence < options.keyFrom ? (options.formerKeys ?? []) : [options.key];
    if (keys.length === 0) counts.unchecked += 1;
    const fault = faultOf(row, { last, keys, checkpoint });
    if (fault !== null) return broken(fault);
    sawCheckpoint ||= row.sequence === checkpoint?.sequence;
    last = row;
  }
  if (checkpoint !== null && !sawCheckpoint) return broken(cutFault(checkpoint.sequence, last));
  return { isUnbroken: true, ...counts, tip: last };
}

type SealedRow = AuditRow & { sequence: number; chainHash: Buffer };

/** A sequence without a chain hash is never right: it counts as sealed, with a hash that fits nothing. */
function isSealed(row: AuditRow): row is SealedRow {
  if (row.sequence !== null) row.chainHash ??= CHAIN_START;
  return row.sequence !== null;
}

const broken = (fault: Fault): Verdict => ({ isUnbroken: false, fault });

const isSignedBy = (key: Buffer, row: AuditRow): boolean => macOfRow(key, row).equals(row.rowMac);

const placeAfter = (last: SealedRow | null): number => (last?.sequence ?? 0) + 1;
const isGap = ({ sequence }: SealedRow, last: SealedRow | null): boolean => sequence > placeAfter(last);

const FAULTS = {
  changed: 'was changed',
  inserted: 'was not written by the program: it was inserted, or changed together with its seal',
  moved: 'was moved here from another place, or entries before it were removed',
} as const;

function faultOf(
  row: SealedRow,
  seen: {
    last: SealedRow | null;
    keys: readonly Buffer[];
    checkpoint: Checkpoint | null;
  },
): Fault | null {
  const { last, keys, checkpoint } = seen;
  const { sequence } = row;
  if (sequence < placeAfter(last)) {
    return { kind: 'inserted', sequence, text: `${nameOf(row)} was inserted: no entry has this place` };
  }
  // The first entries of a filtered export follow one that it does not show.
  const previous = isGap(row, last) ? null : (last?.chainHash ?? CHAIN_START);
  const kind = keys.length === 0 ? null : kindOfFault(row, { keys, previous });
  if (kind !== null) return { kind, sequence, text: `${nameOf(row)} ${FAULTS[kind]}` };
  if (checkpoint?.sequence !== sequence || row.chainHash.toString('hex') === checkpoint.hash) return null;
  return { kind: 'changed', sequence, text: `${nameOf(row)} is not the one of the checkpoint` };
}

function kindOfFault(
  row: SealedRow,
  { keys, previous }: { keys: readonly Buffer[]; previous: Buffer | null },
): keyof typeof FAULTS | null {
  const kinds = keys.map((key) => {
    const isInPlace = previous === null || chainHashOf(key, { ...row, previous }).equals(row.chainHash);
    if (isSignedBy(key, row)) return isInPlace ? null : 'moved';
    return isInPlace && previous !== null ? 'changed' : 'inserted';
  });
  if (kinds.includes(null)) return null;
  // The key that fits best was the one that sealed the entry.
  return (['changed', 'moved', 'inserted'] as const).find((kind) => kinds.includes(kind)) ?? null;
}

const unsealedFault = (row: AuditRow): Fault => ({
  kind: 'inserted',
  sequence: null,
  text: `An entry that is not sealed yet (${inWords(row)}) was changed, or not written by the program`,
});

function cutFault(sequence: number, last: SealedRow | null): Fault {
  const end = last === null ? 'there are no sealed entries' : `the last one is ${nameOf(last)}`;
  return { kind: 'removed', sequence, text: `Entry ${sequence} of the checkpoint was removed: ${end}` };
}

/** A missing entry was removed, unless it comes later. */
async function explainGap({
  row,
  last,
  iterator,
}: {
  row: SealedRow;
  last: SealedRow | null;
  iterator: AsyncIterator<AuditRow>;
}): Promise<Fault> {
  const sequence = placeAfter(last);
  const where =
    last === null ? `the first one is ${nameOf(row)}` : `${nameOf(last)} is followed by ${nameOf(row)}`;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    if (next.value.sequence === sequence) {
      return { kind: 'moved', sequence, text: `${nameOf(next.value)} was moved: ${where}` };
    }
  }
  const end = row.sequence - 1;
  const what = end === sequence ? `Entry ${sequence} was` : `Entries ${sequence} to ${end} were`;
  return { kind: 'removed', sequence, text: `${what} removed: ${where}` };
}

const inWords = ({ at, action }: AuditRow): string => `${at.toISOString()}, ${action}`;
const nameOf = (row: AuditRow): string => `Entry ${row.sequence} (${inWords(row)})`;

/** The sequence of the newest entry about a replaced key that this key has signed; 1 without one. */
export async function findKeyStart(rows: AsyncIterable<AuditRow>, key: Buffer): Promise<number> {
  let found = 1;
  for await (const row of rows) {
    if (row.sequence === null || row.action !== KEY_REPLACED) continue;
    if (row.sequence > found && isSignedBy(key, row)) found = row.sequence;
  }
  return found;
}

/** `SEQUENCE:HASH`, as the log has it; null for anything else. */
export function parseCheckpoint(text: string): Checkpoint | null {
  const [, sequence, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text.trim().toLowerCase()) ?? [];
  return sequence === undefined || hash === undefined ? null : { sequence: Number(sequence), hash };
}
