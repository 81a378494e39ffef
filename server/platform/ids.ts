import { randomFillSync, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

const BYTES_AN_ID = 16;
const MOST_SEQUENCE = 2 ** 32 - 1;
/** Pool random bytes: one syscall per id dominated. */
const randomBytes = Buffer.alloc(256 * BYTES_AN_ID);
let randomUsed = randomBytes.length;
let last = { msecs: 0, seq: 0 };

/** For records that are listed by time. Ids of one process always increase, even when the clock goes back. */
export function timeOrderedId(): string {
  if (randomUsed === randomBytes.length) {
    randomFillSync(randomBytes);
    randomUsed = 0;
  }
  const random = randomBytes.subarray(randomUsed, randomUsed + BYTES_AN_ID);
  randomUsed += BYTES_AN_ID;
  const msecs = Date.now();
  if (msecs > last.msecs) last = { msecs, seq: random.readUInt32BE() >>> 1 };
  else if (last.seq < MOST_SEQUENCE) last = { msecs: last.msecs, seq: last.seq + 1 };
  else last = { msecs: last.msecs + 1, seq: 0 };
  return v7({ ...last, random });
}

/** The lower bound of the time-ordered ids of this moment and later. */
export function firstIdOf(moment: Date): string {
  const digits = moment.getTime().toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

/** The moment in the first 48 bits of a time-ordered id. */
export const momentOf = (id: string): Date =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));

/** For users and trades: their ids are shown cut to eight characters, in which these differ. */
export const randomId = (): string => randomUUID();
