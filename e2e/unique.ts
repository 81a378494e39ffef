import { randomBytes } from 'node:crypto';

/** Journeys of one worker share a server: what each creates carries a name of its own. */
export const uniqueName = (kind: string): string => `${kind}-${randomBytes(4).toString('hex')}`;

/** A token that no other journey uses. */
export const uniqueToken = (): string => `T${randomBytes(4).toString('hex').toUpperCase()}`;
