import { randomBytes } from 'node:crypto';

/** A unique name: journeys of one worker share a server. */
export const uniqueName = (kind: string): string => `${kind}-${randomBytes(4).toString('hex')}`;

/** A token that no other journey uses. */
export const uniqueToken = (): string => `T${randomBytes(4).toString('hex').toUpperCase()}`;
