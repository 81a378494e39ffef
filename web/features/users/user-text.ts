import type { User } from '#contract/users.ts';

export const fullName = ({ firstName, lastName }: Pick<User, 'firstName' | 'lastName'>): string =>
  [firstName, lastName].filter(Boolean).join(' ') || '–';

export const mobile = ({ countryCode, mobileNumber }: Pick<User, 'countryCode' | 'mobileNumber'>): string =>
  mobileNumber ? [countryCode, mobileNumber].filter(Boolean).join(' ') : '–';
