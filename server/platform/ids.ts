import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** Time-ordered: for everything that is listed by time. */
export const timeOrderedId = (): string => v7();

/** Before every time-ordered id of this moment and later ones. */
export const firstIdOf = (moment: Date): string =>
  `${moment
    .getTime()
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-')}-7000-8000-000000000000`;

/** The moment in the first 48 bits of a time-ordered id. */
export const momentOf = (id: string): Date =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));

/** Its first eight characters differ from one to the next: for users and trades, whose ids are shown cut to eight. */
export const randomId = (): string => randomUUID();
