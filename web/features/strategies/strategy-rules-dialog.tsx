import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { StrategiesAnswer, StrategyView } from '#contract/strategies.ts';
import { FormEnd } from '#web/forms/form-end.tsx';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { toastSuccess } from '../../ui/toast.ts';

const FIGURES = [
  ['users', 'Users who trade first', 'From 1 to 50; one who is skipped passes the turn on'],
  [
    'withinSeconds',
    'Seconds to be filled and protected',
    'From 10 to 300, from the first order that is sent',
  ],
  ['maxSlippageBps', 'Largest slippage in bps', 'From 0 to 1000, worse than the price of the signal'],
] as const;
type Figure = (typeof FIGURES)[number][0];
type Values = Record<Figure | 'maxSignalAgeSeconds', string> & { hasCanary: boolean; rotation: boolean };

const SUGGESTED = { users: 2, withinSeconds: 20, maxSlippageBps: 50 };

/** What cannot be read is left to the server to refuse. */
const toFigure = (text: string): number | string => (/^\d+$/.test(text.trim()) ? Number(text) : text);

/** Edits how old signals of a strategy may be, its canary, and whether its users take turns. */
export default function StrategyRulesDialog(props: { strategy: StrategyView; onClose: () => void }) {
  const { strategy, onClose } = props;
  const { processor, canary, maxSignalAgeSeconds, rotation } = strategy;
  const client = useQueryClient();
  const { users, withinSeconds, maxSlippageBps } = canary ?? SUGGESTED;
  const form = useForm<Values>({
    initialValues: {
      maxSignalAgeSeconds: maxSignalAgeSeconds === null ? '' : String(maxSignalAgeSeconds),
      hasCanary: canary !== null,
      users: String(users),
      withinSeconds: String(withinSeconds),
      maxSlippageBps: String(maxSlippageBps),
      rotation,
    },
    focusError: true,
  });
  const save = useMutation({
    mutationFn: ({ maxSignalAgeSeconds: age, hasCanary, rotation, ...figures }: Values) =>
      requestJson<StrategiesAnswer>(`/api/strategies/${encodeURIComponent(processor)}`, {
        method: 'PUT',
        body: {
          maxSignalAgeSeconds: age.trim() === '' ? null : toFigure(age),
          canary: hasCanary
            ? Object.fromEntries(FIGURES.map(([name]) => [name, toFigure(figures[name])]))
            : null,
          rotation,
        },
      }),
    onSuccess: () =>
      toastSuccess({ title: 'Strategy Saved', message: `${processor}: it applies to the next signal.` }),
    onSettled: () => client.invalidateQueries({ queryKey: ['/api/strategies'] }),
  });
  const dialog = useFormDialog({ unsaved: form.isDirty(), pending: save.isPending, onClose });
  const submit = form.onSubmit((values) =>
    save.mutate(values, {
      onSuccess: dialog.done,
      onError: (error) => {
        if (error instanceof ApiError) form.setErrors(errorsOf(error));
      },
    }),
  );
  return (
    <Dialog opened onClose={dialog.close} title={`Rules: ${processor}`}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            label="Oldest signal in seconds"
            description="From 5 to 1800; empty: the limit of the program"
            inputMode="numeric"
            autoComplete="off"
            {...form.field('maxSignalAgeSeconds')}
          />
          <Checkbox
            label="Canary: the first users trade before the others"
            description="If their orders are not filled and protected as set here, nobody else gets an order"
            {...form.checkbox('hasCanary')}
          />
          {form.values.hasCanary
            ? FIGURES.map(([name, label, description]) => (
                <TextInput
                  key={name}
                  label={label}
                  description={description}
                  inputMode="numeric"
                  autoComplete="off"
                  {...form.field(name)}
                />
              ))
            : null}
          <Checkbox
            label="Users of the same trading order take turns at being first"
            {...form.checkbox('rotation')}
          />
          <FormEnd
            error={save.error}
            errorTitle="Failed to Save Strategy"
            fallback="The rules were not saved"
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

function errorsOf({ body }: ApiError): Partial<Record<Figure | 'maxSignalAgeSeconds', string>> {
  const fields: (string | undefined)[] = ['maxSignalAgeSeconds', ...FIGURES.map(([figure]) => figure)];
  const errors = (body?.errors ?? []).map(({ path, message }) => [path.split('.').at(-1), message]);
  return Object.fromEntries(errors.filter(([name]) => fields.includes(name)));
}
