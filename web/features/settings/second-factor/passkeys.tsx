import { Button } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import type { FactorsAnswer, PasskeySummary } from '#contract/factors.ts';
import { canUsePasskeys } from '../../../lib/passkeys.ts';
import { useFormatInstant } from '../../../lib/use-format-instant.ts';
import { lazily } from '../../../ui/lazily.tsx';
import { passkeysPath } from './factors-data.ts';
import classes from './second-factor.module.css';

const RemoveFactorDialog = lazily(async () => ({
  default: (await import('./remove-factor-dialog.tsx')).RemoveFactorDialog,
}));

const AddPasskeyDialog = lazily(() => import('./add-passkey-dialog.tsx'));

interface PasskeysProps {
  factors: FactorsAnswer;
  onEnrolled: () => void;
}

export function Passkeys({ factors, onEnrolled }: PasskeysProps) {
  const { passkeys, totp, required } = factors;
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<PasskeySummary | null>(null);
  return (
    <section className={classes.factor} aria-label="Passkeys">
      <h3 className={classes.title}>Passkeys</h3>
      <p className={classes.text}>
        Your device's screen lock or a security key. A passkey also signs you in without the password.
      </p>
      {passkeys.length === 0 ? (
        <p className={classes.text}>No passkey has been added yet.</p>
      ) : (
        <ul className={classes.passkeys} aria-label="Passkeys">
          {passkeys.map((passkey) => (
            <Passkey key={passkey.id} passkey={passkey} onRemove={() => setRemoving(passkey)} />
          ))}
        </ul>
      )}
      {canUsePasskeys() ? (
        <Button
          variant="default"
          leftSection={<IconKey size={16} aria-hidden />}
          onClick={() => setAdding(true)}
        >
          Add Passkey
        </Button>
      ) : (
        <p className={classes.text}>
          Passkeys can be added only in a browser that supports them, at an https address.
        </p>
      )}
      {adding ? <AddPasskeyDialog onClose={() => setAdding(false)} onEnrolled={onEnrolled} /> : null}
      {removing ? (
        <RemoveFactorDialog
          title="Remove Passkey"
          path={`${passkeysPath}/${encodeURIComponent(removing.id)}`}
          done="Passkey Removed"
          isLast={passkeys.length === 1 && totp === null}
          required={required}
          onClose={() => setRemoving(null)}
        >
          The passkey '{removing.name}' no longer signs you in. You can delete it from your device, too.
        </RemoveFactorDialog>
      ) : null}
    </section>
  );
}

function Passkey({ passkey, onRemove }: { passkey: PasskeySummary; onRemove: () => void }) {
  const formatInstant = useFormatInstant();
  const { name, createdAt, lastUsedAt } = passkey;
  return (
    <li className={classes.passkey}>
      <div>
        <strong className={classes.name}>{name || 'Without a name'}</strong>
        <span className={classes.detail}>Added {formatInstant(createdAt)}</span>
        <span className={classes.detail}>
          {lastUsedAt === null ? 'Not used yet' : `Last used ${formatInstant(lastUsedAt)}`}
        </span>
      </div>
      <Button variant="default" size="xs" aria-label={`Remove passkey ${name}`} onClick={onRemove}>
        Remove
      </Button>
    </li>
  );
}
