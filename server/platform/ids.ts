import { randomFillSync, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

const BYTES_AN_ID = 16;
const MOST_SEQUENCE = 2 ** 32 - 1;
/** Asking the system for each id's would take longer than all the rest of it. */
const randomBytes = Buffer.alloc(256 * BYTES_AN_ID);
let randomUsed = randomBytes.length;
let last = { msecs: 0, seq: 0 };

/**
 * Time-ordered: for everything that is listed by time. Of ids of one process each is greater than the one before, also
 * within a millisecond and when the clock goes back.
 */
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

/** Before every time-ordered id of this moment and later ones, and after every earlier one. */
export function firstIdOf(moment: Date): string {
  const digits = moment.getTime().toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

/** The moment in the first 48 bits of a time-ordered id. */
export const momentOf = (id: string): Date =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));

/** Its first eight characters differ from one to the next: for users and trades, whose ids are shown cut to eight. */
export const randomId = (): string => randomUUID();
