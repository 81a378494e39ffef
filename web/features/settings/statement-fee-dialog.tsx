import { Stack, TextInput } from '@mantine/core';
import type { StatementFee } from '#contract/statements.ts';
import { FormEnd } from '#web/forms/form-end.tsx';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useChange } from '../../ui/use-change.ts';

interface StatementFeeDialogProps {
  path: string;
  username: string;
  percent: string;
  onClose: () => void;
}

export default function StatementFeeDialog({ path, username, percent, onClose }: StatementFeeDialogProps) {
  const form = useForm({
    initialValues: { percent },
    validate: (values) => {
      const written = values.percent.trim();
      const isPercentage = /^\d{1,3}(\.\d{1,4})?$/.test(written) && Number(written) <= 100;
      return isPercentage ? {} : { percent: 'A number from 0 to 100 with at most four decimals' };
    },
    focusError: true,
  });
  const save = useChange<StatementFee, string>({
    send: (written) => requestJson(path, { method: 'PUT', body: { percent: written } }),
    done: (stored) => ({
      title: 'Fee Saved',
      message: `${username}: ${Number(stored.percent) === 0 ? 'no fee' : `${stored.percent} %`} in statements.`,
    }),
    refresh: [path],
  });
  const dialog = useFormDialog({ unsaved: form.isDirty(), pending: save.isPending, onClose });
  const submit = form.onSubmit((values) => save.mutate(values.percent.trim(), { onSuccess: dialog.done }));
  return (
    <Dialog opened onClose={dialog.close} title={`Performance fee: ${username}`}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            label="Percent of new profit"
            description="Of what a month's end is above the highest month end before it; deposits and withdrawals do not count. Statements of all months are computed with the present percentage."
            inputMode="decimal"
            autoComplete="off"
            data-autofocus
            {...form.field('percent')}
          />
          <FormEnd
            error={save.error}
            errorTitle="Failed to Save Fee"
            fallback="The fee was not saved"
            label="Save"
            pendingLabel="Saving..."
            pending={save.isPending}
            onCancel={dialog.close}
          />
        </Stack>
      </form>
      {dialog.question}
    </Dialog>
  );
}
