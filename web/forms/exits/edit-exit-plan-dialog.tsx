import { Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ExitPlanAnswer } from '#contract/exit-plans.ts';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Section } from '../../ui/section.tsx';
import { toastSuccess } from '../../ui/toast.ts';
import { FormEnd } from '../form-end.tsx';
import { useForm } from '../use-form.ts';
import { useFormDialog } from '../use-form-dialog.tsx';
import { errorsOf, MOST_PARTS, toBody, toValues, type Values } from './exit-plan-form.ts';
import classes from './exits.module.css';

const TRAILS = [
  { value: 'none', label: 'Does not trail' },
  { value: 'atrMultiple', label: 'By multiples of the ATR' },
  { value: 'percent', label: 'By percent of the price' },
];

/** Edits the plan at this path, as a whole. */
export default function EditExitPlanDialog(props: {
  path: string;
  answer: ExitPlanAnswer;
  onClose: () => void;
}) {
  const { path, answer, onClose } = props;
  const { scope, plan } = answer;
  const client = useQueryClient();
  const form = useForm<Values>({ initialValues: toValues(plan), focusError: true });
  const [rows, setRows] = useState(Math.max(2, plan?.takeProfits.length ?? 0));
  const save = useMutation({
    mutationFn: (values: Values) => requestJson(path, { method: 'PUT', body: toBody(values) }),
    onSuccess: () =>
      toastSuccess({ title: 'Exit Plan Saved', message: `${scope.title}: later entries follow it.` }),
    onSettled: () => client.invalidateQueries({ queryKey: [path] }),
  });
  const dialog = useFormDialog({ unsaved: form.isDirty(), pending: save.isPending, onClose });
  const submit = form.onSubmit((values) =>
    save.mutate(values, {
      onSuccess: dialog.done,
      onError: (error) => {
        if (error instanceof ApiError) form.setErrors(errorsOf(error.body?.errors ?? [], values));
      },
    }),
  );
  return (
    <Dialog opened onClose={dialog.close} title={`Exit plan: ${scope.title}`} size="md">
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <p className={classes.note}>
            R is the distance from the entry to its stop. The full stop rests at the exchange all the time;
            the target closes what no part closes.
          </p>
          <Section title="Parts">
            <Stack gap="xs">
              <p className={classes.note}>Such as 50 percent at 1 R. A row that is left empty is no part.</p>
              {Array.from({ length: rows }, (_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a row is its number.
                <div className={classes.part} key={index}>
                  <TextInput
                    label={`Part ${index + 1} at R`}
                    inputMode="decimal"
                    autoComplete="off"
                    {...form.field(`atR${index}`)}
                  />
                  <TextInput
                    label={`Part ${index + 1} in percent`}
                    inputMode="numeric"
                    autoComplete="off"
                    {...form.field(`percent${index}`)}
                  />
                </div>
              ))}
              {rows < MOST_PARTS ? (
                <div>
                  <Button size="xs" variant="default" onClick={() => setRows(rows + 1)}>
                    Add part
                  </Button>
                </div>
              ) : null}
            </Stack>
          </Section>
          <TextInput
            label="Stop to the entry at R"
            description="Empty: it stays"
            inputMode="decimal"
            autoComplete="off"
            {...form.field('breakEvenAtR')}
          />
          <div className={classes.part}>
            <NativeSelect label="Trailing stop" data={TRAILS} {...form.field('trailBy')} />
            <TextInput
              label={form.values.trailBy === 'percent' ? 'Percent' : 'Multiple of the ATR'}
              inputMode="decimal"
              autoComplete="off"
              disabled={form.values.trailBy === 'none'}
              {...form.field('trail')}
            />
          </div>
          <TextInput
            label="Longest holding in minutes"
            description="Empty: no limit"
            inputMode="numeric"
            autoComplete="off"
            {...form.field('maxHoldingMinutes')}
          />
          <FormEnd
            error={save.error}
            errorTitle="Failed to Save Exit Plan"
            fallback="The exit plan was not saved"
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
