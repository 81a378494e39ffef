import * as react from 'react';

/*
 * React's development build notes for each element where it was created, up to a number of elements a second. No test
 * reads it, and it takes a sixth of the time: the number counts as reached.
 */
const { __CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE: internals } =
  react as unknown as Record<string, object | undefined>;
if (internals === undefined)
  throw new Error('This version of React keeps the number of noted elements elsewhere');
Object.defineProperty(internals, 'recentlyCreatedOwnerStacks', {
  get: () => Number.POSITIVE_INFINITY,
  set: () => {},
  configurable: true,
});
