import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useLayoutEffect } from 'react';
import { LoginScreen } from '../features/auth/login-screen.tsx';
import { actAs, serverMessage } from '../lib/api-client.ts';
import {
  lookUpSession,
  onSessionAnnounced,
  SessionContext,
  sessionKey,
  useSessionQuery,
} from '../lib/session.ts';
import { readChoice, storeChoice } from '../lib/stored-choice.ts';
import { useDocumentTitle } from '../lib/use-document-title.ts';
import classes from './session-gate.module.css';

const loadSignedInApp = () =>
  import('./signed-in-app.tsx').catch((error: Error) => ({
    // After a server update this page may request chunks that no longer exist.
    default: () => <SessionError error={error} onRetry={() => window.location.reload()} />,
  }));
const SignedInApp = lazy(loadSignedInApp);

/** Where somebody was signed in, the code of the screens loads while the session is looked up. */
const SIGNED_IN = 'signed-in';
if (readChoice(SIGNED_IN) === 'yes') void loadSignedInApp();

/** Shows the sign-in screen on every path while signed out; the router loads after signing in. */
export function SessionGate() {
  const client = useQueryClient();
  const session = useSessionQuery();
  const userId = session.data?.user.id ?? null;
  // A layout effect, so that it runs before any screen sends a request.
  useLayoutEffect(() => actAs(userId), [userId]);
  const isSignedIn = session.data === undefined ? null : session.data !== null;
  useEffect(() => {
    if (isSignedIn !== null) storeChoice(SIGNED_IN, isSignedIn ? 'yes' : 'no');
  }, [isSignedIn]);
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

/** Retries once a background check finds the server answering again. */
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

/** Matches the loading screen of index.html, to avoid a layout shift. */
function FullScreenLoading() {
  return (
    <main className="full-screen">
      <div className="full-screen-content" role="status">
        <span className="spinner" aria-hidden />
        <span>Loading...</span>
      </div>
    </main>
  );
}

function SessionError({ error, onRetry }: { error: Error; onRetry: () => void }) {
  useDocumentTitle(undefined);
  return (
    <main className="full-screen">
      <div className="full-screen-content" role="alert">
        <h1 className={classes.title}>Signal Board cannot be reached</h1>
        <p className={classes.detail}>{serverMessage(error, error.message)}</p>
        <Button onClick={onRetry}>Try again</Button>
      </div>
    </main>
  );
}
