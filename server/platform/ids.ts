import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** Time-ordered: for everything that is listed by time. */
export const timeOrderedId = (): string => v7();

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
