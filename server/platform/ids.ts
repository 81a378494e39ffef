import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** Time-ordered: for everything that is listed by time. */
export const timeOrderedId = (): string => v7();

/** Its first eight characters differ from one to the next: for users and trades, whose ids are shown cut to eight. */
export const randomId = (): string => randomUUID();
