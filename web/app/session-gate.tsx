import { lazy, Suspense } from 'react';
import { LoginScreen } from '../features/auth/login-screen.tsx';
import { SessionContext, useSessionQuery } from '../lib/session.ts';
import { FullScreenLoading, SessionError } from './session-states.tsx';

const loadSignedInApp = () =>
  import('./signed-in-app.tsx').catch((error: Error) => ({
    // After an update of the server this page may ask for code that is no longer there.
    default: () => <SessionError error={error} onRetry={() => window.location.reload()} />,
  }));
const SignedInApp = lazy(loadSignedInApp);

/** Signed out, every path shows the sign-in screen; the router is only loaded for somebody signed in. */
export function SessionGate() {
  const session = useSessionQuery();
  if (session.data === undefined) {
    return session.isError && !session.isFetching ? (
      <SessionError error={session.error} onRetry={() => void session.refetch()} />
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
