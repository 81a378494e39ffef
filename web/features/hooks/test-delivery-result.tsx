import { Alert } from '@mantine/core';
import { IconAlertCircle, IconCircleCheck, IconCopyCheck } from '@tabler/icons-react';
import type { TestDeliveryAnswer } from '#contract/hooks.ts';
import { serverMessage } from '../../lib/api-client.ts';
import { Link } from '../../ui/link.tsx';
import classes from './test-delivery-dialog.module.css';
import type { TestKind } from './test-delivery-fields.ts';

interface TestDeliveryResultProps {
  kind: TestKind;
  answer: TestDeliveryAnswer | undefined;
  error: Error | null;
  /** Administrators can look at the signal. */
  linked: boolean;
}

/** What became of the last send: stored, known already, refused, or not sent at all. */
export function TestDeliveryResult({ kind, answer, error, linked }: TestDeliveryResultProps) {
  if (error) {
    return (
      <Alert color="red" title="Not sent" icon={<IconAlertCircle aria-hidden />}>
        {serverMessage(error, `Failed to send the test ${kind}`)}
      </Alert>
    );
  }
  if (!answer) return null;
  if (!answer.success) {
    return (
      <Alert color="red" title="Refused" icon={<IconAlertCircle aria-hidden />}>
        {answer.errors.length > 1 ? (
          <ul className={classes.errors}>
            {answer.errors.map(({ path, message }) => (
              <li key={path}>
                {path} {message}
              </li>
            ))}
          </ul>
        ) : (
          answer.message
        )}
      </Alert>
    );
  }
  const link =
    linked && kind === 'signal' && answer.id ? (
      <Link to="/signals" search={{ dialog: 'signal', signal: answer.id }}>
        Open the signal
      </Link>
    ) : null;
  return answer.duplicate ? (
    <Alert color="yellow" title="Duplicate" icon={<IconCopyCheck aria-hidden />}>
      The same {kind} was stored before: nothing was stored or traded again. {link}
    </Alert>
  ) : (
    <Alert color="teal" title="Stored" icon={<IconCircleCheck aria-hidden />}>
      The {kind} was stored. {link}
    </Alert>
  );
}
