import { Button } from '@mantine/core';
import { IconDeviceMobile } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { FactorsAnswer, RECOVERY_CODES, totpAnswer } from '#contract/factors.ts';
import { requestJson } from '../../../lib/api-client.ts';
import { useFormatInstant } from '../../../lib/use-format-instant.ts';
import { Badge } from '../../../ui/badge.tsx';
import { lazily } from '../../../ui/lazily.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { toastFailure } from '../../../ui/toast.ts';
import { totpPath } from './factors-data.ts';
import classes from './second-factor.module.css';

const RemoveFactorDialog = lazily(async () => ({
  default: (await import('./remove-factor-dialog.tsx')).RemoveFactorDialog,
}));

const AuthenticatorDialog = lazily(() => import('./authenticator-dialog.tsx'));

type TotpSetup = ReturnType<(typeof totpAnswer)['parse']>;

const ALL_CODES: typeof RECOVERY_CODES = 10;
const FEW_CODES = 2;

interface AuthenticatorAppProps {
  factors: FactorsAnswer;
  onEnrolled: () => void;
}

export function AuthenticatorApp({ factors, onEnrolled }: AuthenticatorAppProps) {
  const { totp, passkeys, required } = factors;
  const [removing, setRemoving] = useState(false);
  const start = useMutation({
    mutationFn: () => requestJson<TotpSetup>(totpPath, { method: 'POST' }),
    onError: (error) => toastFailure(error, 'The set-up could not be started'),
    // Do not keep the secret in memory after the dialog closes.
    gcTime: 0,
  });
  return (
    <section className={classes.factor} aria-label="Authenticator app">
      <div className={classes.head}>
        <h3 className={classes.title}>Authenticator app</h3>
        <Badge tone={totp ? 'success' : 'neutral'}>{totp ? 'On' : 'Not set up'}</Badge>
      </div>
      {totp ? (
        <AppState factors={factors} confirmedAt={totp.confirmedAt} />
      ) : (
        <p className={classes.text}>An app on your phone shows a new code of six digits every 30 seconds.</p>
      )}
      {totp ? (
        <Button variant="default" onClick={() => setRemoving(true)}>
          Remove Authenticator App
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<IconDeviceMobile size={16} aria-hidden />}
          disabled={start.isPending}
          onClick={() => start.mutate()}
        >
          {start.isPending ? 'Starting...' : 'Set Up Authenticator App'}
        </Button>
      )}
      {start.data ? (
        <AuthenticatorDialog setup={start.data} onClose={start.reset} onEnrolled={onEnrolled} />
      ) : null}
      {removing ? (
        <RemoveFactorDialog
          title="Remove Authenticator App"
          path={totpPath}
          done="Authenticator App Removed"
          isLast={passkeys.length === 0}
          required={required}
          onClose={() => setRemoving(false)}
        >
          Codes of the app and the recovery codes no longer work.
        </RemoveFactorDialog>
      ) : null}
    </section>
  );
}

function AppState({ factors, confirmedAt }: { factors: FactorsAnswer; confirmedAt: string }) {
  const formatInstant = useFormatInstant();
  const { recoveryCodesLeft: left } = factors;
  return (
    <>
      <p className={classes.text}>Set up {formatInstant(confirmedAt)}</p>
      <p className={classes.text}>
        Recovery codes left: {Number.isNaN(left) ? 'not known' : `${left} of ${ALL_CODES}`}
      </p>
      {left <= FEW_CODES ? (
        <Notice look="warning">
          {left === 0 ? 'No recovery code is left' : 'Few recovery codes are left'}. To get new ones, remove
          the authenticator app and set it up again.
        </Notice>
      ) : null}
    </>
  );
}
