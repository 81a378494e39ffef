import { useQueryClient } from '@tanstack/react-query';
import { announceSession, lookUpSession } from '../../lib/session.ts';

/** Shows the dashboard to the user who has just signed in. */
export function useFinishSignIn(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    announceSession();
    // Start the router at the dashboard, whatever path showed the sign-in screen.
    window.history.replaceState(null, '', '/');
    await lookUpSession(client);
  };
}
