import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';
import { askForPasskey, canUsePasskeys } from '../../lib/passkeys.ts';
import { useFinishSignIn } from './finish-sign-in.ts';

/** Signs in with a passkey, instead of the password or after it. */
export function usePasskeySignIn() {
  const finish = useFinishSignIn();
  return useMutation({
    mutationFn: async () => {
      const assertion = await askForPasskey('/api/auth/login/passkey/options');
      await requestJson('/api/auth/login/passkey', { method: 'POST', body: { assertion } });
      await finish();
    },
  });
}

interface PasskeyButtonProps {
  variant?: 'default' | 'filled';
  pending: boolean;
  disabled: boolean;
  onClick: () => void;
}

/** Absent where the browser has no passkeys. */
export function PasskeyButton({ variant = 'default', pending, disabled, onClick }: PasskeyButtonProps) {
  if (!canUsePasskeys()) return null;
  return (
    <Button variant={variant} fullWidth disabled={disabled || pending} onClick={onClick}>
      {pending ? 'Waiting for the passkey...' : 'Use a passkey'}
    </Button>
  );
}
