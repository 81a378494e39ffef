import type { Deps } from '#server/deps.ts';
import { readCredentials } from './seal-credentials.ts';

/** Outside paper mode: the user's account as the stored credentials open it; null without usable ones. */
export function createAccountFinder(
  deps: Pick<Deps, 'config' | 'db' | 'log' | 'secretBox'>,
): Deps['findAccount'] {
  return async (userId, platform) => {
    const stored = await readCredentials(deps, { userId, platform });
    if (stored.state === 'open') {
      return { userId, environment: deps.config.exchangeMode, credentials: stored.credentials };
    }
    if (stored.state === 'locked') {
      deps.log.error(
        { userId, exchangePlatform: platform },
        'exchange credentials do not open: SECRET_KEY is another one or the row was moved; the user counts as not connected',
      );
    }
    return null;
  };
}
