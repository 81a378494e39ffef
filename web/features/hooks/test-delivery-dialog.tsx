import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { EnvironmentStatus } from '#contract/environment.ts';
import type { TestDeliveryAnswer, TestDeliveryBody } from '#contract/hooks.ts';
import { Select } from '#web/forms/select.tsx';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { isStatus, requestJson, serverMessage } from '../../lib/api-client.ts';
import { useSession } from '../../lib/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Link } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/section.tsx';
import { toastFailure } from '../../ui/toast.ts';
import {
  areTestsRefused,
  TEST_FIELDS,
  type TestField,
  type TestKind,
  type TestValues,
  testDeliveryEffect,
  testExample,
  testPayload,
} from './test-delivery.ts';
import classes from './webhook-screen.module.css';
import { deliveriesPath, useRefreshWebhook, webhookPath } from './webhooks.ts';

interface TestDeliveryDialogProps {
  kind: TestKind;
  hookId: string;
  environment: EnvironmentStatus | null;
  onClose: () => void;
}

export default function TestDeliveryDialog(props: TestDeliveryDialogProps) {
  const { kind, hookId, environment, onClose } = props;
  const { isAdmin } = useSession().user;
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: (body: TestDeliveryBody) =>
      requestJson<TestDeliveryAnswer>(`${webhookPath(hookId)}/test-deliveries`, { method: 'POST', body }),
    // Refresh the delivery log, which shows the result.
    onSettled: () => void client.invalidateQueries({ queryKey: [deliveriesPath(hookId)] }),
  });
  const refreshWebhook = useRefreshWebhook();
  const [edited, setEdited] = useState<TestValues>({});
  const [sent, setSent] = useState(edited);
  const [now, setNow] = useState(() => new Date());
  const values = { ...testExample(kind, now), ...edited };
  const blocked = areTestsRefused(environment);
  const refused = new Set(send.data?.errors.map(({ path }) => path));

  const dialog = useFormDialog({ unsaved: edited !== sent, pending: send.isPending, onClose });

  const edit = (name: string, value: string) => {
    setEdited({ ...edited, [name]: value });
    setNow(new Date());
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (send.isPending || blocked) return;
    const sentAt = new Date();
    setNow(sentAt);
    const payload = testPayload(kind, { ...testExample(kind, sentAt), ...edited });
    send.mutate(
      { kind, payload },
      {
        onSuccess: () => setSent(edited),
        onError: (error) => {
          if (!isStatus(error, 404)) return;
          // The webhook was deleted elsewhere; there is nothing left to send to.
          dialog.done();
          refreshWebhook();
          toastFailure(error, 'Webhook not found');
        },
      },
    );
  };

  return (
    <Dialog
      opened
      onClose={dialog.close}
      title={kind === 'signal' ? 'Send Test Signal' : 'Send Test Candle'}
      size="lg"
    >
      <form onSubmit={submit} noValidate className={classes.form}>
        <p className={classes.effect}>{testDeliveryEffect(kind, { isAdmin, trading: environment })}</p>
        <div className={classes.fields}>
          {TEST_FIELDS[kind].map((field) => (
            <Field
              key={field.name}
              field={field}
              value={values[field.name] ?? ''}
              invalid={refused.has(field.name)}
              onChange={(value) => edit(field.name, value)}
            />
          ))}
        </div>
        <Section title="What is sent">
          <JsonView value={testPayload(kind, values)} label="What is sent" />
        </Section>
        <TestDeliveryResult kind={kind} answer={send.data} error={send.error} linked={isAdmin} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={dialog.close}>
            Close
          </Button>
          <Button type="submit" disabled={send.isPending || blocked}>
            {send.isPending ? 'Sending...' : 'Send'}
          </Button>
        </Group>
      </form>
      {dialog.question}
    </Dialog>
  );
}

interface FieldProps {
  field: TestField;
  value: string;
  invalid: boolean;
  onChange: (value: string) => void;
}

const LONGEST_VALUE = 200;

function Field({ field, value, invalid, onChange }: FieldProps) {
  const { name, label = name, options, ...input } = field;
  const common = { label, value, error: invalid };
  if (options) {
    return <Select {...common} data={options} onChange={(event) => onChange(event.currentTarget.value)} />;
  }
  return (
    <TextInput
      {...common}
      {...input}
      maxLength={LONGEST_VALUE}
      autoComplete="off"
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface TestDeliveryResultProps {
  kind: TestKind;
  answer: TestDeliveryAnswer | undefined;
  error: Error | null;
  /** Links to the signal, for administrators. */
  linked: boolean;
}

/** Result of the last send: stored, duplicate, refused or not sent. */
function TestDeliveryResult({ kind, answer, error, linked }: TestDeliveryResultProps) {
  if (error) {
    return (
      <Notice look="failure" title="Not sent">
        {serverMessage(error, `Failed to send the test ${kind}`)}
      </Notice>
    );
  }
  if (!answer) return null;
  if (!answer.success) {
    return (
      <Notice look="failure" title="Refused">
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
      </Notice>
    );
  }
  return (
    <Notice look={answer.duplicate ? 'warning' : 'success'} title={answer.duplicate ? 'Duplicate' : 'Stored'}>
      {answer.duplicate
        ? `The same ${kind} was stored before: nothing was stored or traded again. `
        : `The ${kind} was stored. `}
      {linked && kind === 'signal' && answer.id ? (
        <Link to="/signals" search={{ dialog: 'signal', signal: answer.id }}>
          Open the signal
        </Link>
      ) : null}
    </Notice>
  );
}
