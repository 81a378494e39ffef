import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useSignOut } from '../features/auth/sign-out.ts';
import SecondFactor from '../features/settings/second-factor/second-factor.tsx';
import { lookUpSession, useSession } from '../lib/session.ts';
import { Brand } from '../ui/brand.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { toastFailure } from '../ui/toast.ts';
import classes from './enrol-factor-page.module.css';

/** All that an administrator without a second factor sees where real money is traded. */
export default function EnrolFactorPage() {
  const client = useQueryClient();
  const { user } = useSession();
  const signOut = useSignOut();
  // The session then has nothing missing, and the screens open.
  const goOn = () => lookUpSession(client).catch((error: unknown) => toastFailure(error, NOT_LOOKED_UP));
  return (
    <main className={classes.content}>
      <div className={classes.brand}>
        <Brand />
      </div>
      <Page
        title="Set up a second factor"
        subtitle={`Signed in as ${user.username}. Administrators need a second factor while real money is traded.`}
        actions={
          <Button
            variant="default"
            disabled={signOut.isPending}
            onClick={() =>
              signOut.mutate(undefined, { onError: (error) => toastFailure(error, 'Failed to sign out') })
            }
          >
            Sign Out
          </Button>
        }
      >
        <Panel title="Second factor" description="One of the two is enough.">
          <SecondFactor onEnrolled={() => void goOn()} />
        </Panel>
      </Page>
    </main>
  );
}

const NOT_LOOKED_UP = 'The session could not be looked up. Reload the page.';
