import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { EnvironmentStatus } from '#contract/environment.ts';
import { Select } from '#web/forms/select.tsx';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { isStatus, serverMessage } from '../../lib/api-client.ts';
import { useSession } from '../../lib/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { toastError } from '../../ui/toast.ts';
import { useSendTestDelivery } from './send-test-delivery.ts';
import classes from './test-delivery-dialog.module.css';
import { areTestsRefused, testDeliveryEffect } from './test-delivery-effect.ts';
import {
  TEST_FIELDS,
  type TestField,
  type TestKind,
  type TestValues,
  testExample,
  testPayload,
} from './test-delivery-fields.ts';
import { TestDeliveryResult } from './test-delivery-result.tsx';
import { useRefreshWebhook } from './webhooks.ts';

interface TestDeliveryDialogProps {
  kind: TestKind;
  hookId: string;
  environment: EnvironmentStatus | null;
  onClose: () => void;
}

export default function TestDeliveryDialog(props: TestDeliveryDialogProps) {
  const { kind, hookId, environment, onClose } = props;
  const { isAdmin } = useSession().user;
  const send = useSendTestDelivery(hookId);
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
          // Deleted elsewhere: there is nothing left to send to.
          dialog.done();
          refreshWebhook();
          toastError({ title: 'Error', message: serverMessage(error, 'Webhook not found') });
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
        <div>
          <h3 className={classes.heading}>What is sent</h3>
          <JsonView value={testPayload(kind, values)} label="What is sent" />
        </div>
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
  const { label, options, inputMode, description } = field;
  if (options) {
    return (
      <Select
        label={label}
        data={[...options]}
        value={value}
        error={invalid}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      label={label}
      value={value}
      error={invalid}
      maxLength={LONGEST_VALUE}
      autoComplete="off"
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      {...(inputMode ? { inputMode } : {})}
      {...(description ? { description } : {})}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
