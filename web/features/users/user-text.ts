import type { User } from '#contract/users.ts';
import { formatCount } from '../../lib/format.ts';

const joined = (...parts: (string | null)[]): string | null => parts.filter(Boolean).join(' ') || null;

export const fullName = ({ firstName, lastName }: Pick<User, 'firstName' | 'lastName'>) =>
  joined(firstName, lastName);

export const mobile = ({ countryCode, mobileNumber }: Pick<User, 'countryCode' | 'mobileNumber'>) =>
  mobileNumber ? joined(countryCode, mobileNumber) : null;

type Settings = NonNullable<User['settings']>;

export const sizing = ({ positionSizingMethod, exchangePlatform }: Settings): string =>
  `${positionSizingMethod} · ${exchangePlatform}`;

/** Whether trading still pauses at the given time. */
export const isPaused = (settings: Settings | null, atMs: number): boolean =>
  settings?.tradingPausedUntil ? Date.parse(settings.tradingPausedUntil) > atMs : false;

export const countText = (total: number): string => (total === 1 ? '1 user' : `${formatCount(total)} users`);
