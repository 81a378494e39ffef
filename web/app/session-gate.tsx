import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useLayoutEffect } from 'react';
import { LoginScreen } from '../features/auth/login-screen.tsx';
import { actAs } from '../lib/api-client.ts';
import { lookUpSession, SessionContext, useSessionQuery } from '../lib/session.ts';
import { sessionKey } from '../lib/session-key.ts';
import { onSessionAnnounced } from '../lib/session-news.ts';
import { FullScreenLoading, SessionError } from './session-states.tsx';

const loadSignedInApp = () =>
  import('./signed-in-app.tsx').catch((error: Error) => ({
    // After an update of the server this page may ask for code that is no longer there.
    default: () => <SessionError error={error} onRetry={() => window.location.reload()} />,
  }));
const SignedInApp = lazy(loadSignedInApp);

/** Signed out, every path shows the sign-in screen; the router is only loaded for somebody signed in. */
export function SessionGate() {
  const client = useQueryClient();
  const session = useSessionQuery();
  const userId = session.data?.user.id ?? null;
  // With the screens themselves, before any of theirs can ask for something.
  useLayoutEffect(() => actAs(userId), [userId]);
  useEffect(() => onSessionAnnounced(() => void lookUpSession(client).catch(() => {})), [client]);

  if (session.data === undefined) {
    return session.isError && !session.isFetching ? (
      <SessionAway error={session.error} onRetry={() => void session.refetch()} />
    ) : (
      <FullScreenLoading />
    );
  }
  if (session.data === null) return <LoginScreen onSubmit={() => void loadSignedInApp()} />;
  return (
    <SessionContext value={session.data}>
      <Suspense fallback={<FullScreenLoading />}>
        <SignedInApp key={session.data.user.id} />
      </Suspense>
    </SessionContext>
  );
}

const ASK_AGAIN_MS = 5_000;

/** Asks by itself whether the server can tell again who is signed in, behind what is shown. */
function SessionAway({ error, onRetry }: { error: Error; onRetry: () => void }) {
  useEffect(() => {
    const timer = setInterval(async () => {
      const answer = await fetch(sessionKey[0], { credentials: 'include' }).catch(() => null);
      if (answer !== null && answer.status < 500) onRetry();
    }, ASK_AGAIN_MS);
    return () => clearInterval(timer);
  });
  return <SessionError error={error} onRetry={onRetry} />;
}
