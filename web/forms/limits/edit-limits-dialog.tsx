import { Alert, Checkbox, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { RiskLimitsAnswer } from '#contract/risk-limits.ts';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { useSession } from '../../lib/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { toastSuccess } from '../../ui/toast.ts';
import { FormEnd } from '../form-end.tsx';
import { useForm } from '../use-form.ts';
import { useFormDialog } from '../use-form-dialog.tsx';
import classes from './limits.module.css';
import type { Limits, TradingHours } from './limits-data.ts';
import { TradingHoursField } from './trading-hours-field.tsx';

const FIELDS = [
  ['maxDailyLoss', 'Daily loss', 'USDT such as 300, or 3% of the equity at the start of the day'],
  ['maxDrawdown', 'Drawdown', 'Such as 10%, below the highest profit since it was set'],
  ['maxExposure', 'Exposure', 'USDT such as 5000, or 3x the equity'],
  ['maxRisk', 'Risk to stops', 'Such as 4% of the equity, if all stops are hit'],
  ['maxOpenPositions', 'Open positions', 'Working entries included'],
  ['maxEntriesPerMinute', 'Entries a minute', 'First attempts in the last 60 seconds'],
  ['maxLossesInARow', 'Losses in a row', 'Closed positions with a net loss'],
  ['cooldownMinutes', 'Cool-down in minutes', 'After that many losses; empty: until it is reset'],
  ['allowedTokens', 'Allowed tokens', 'Such as BTC, ETH; empty: all'],
  ['blockedTokens', 'Blocked tokens', 'Such as PEPE'],
] as const;
type Field = (typeof FIELDS)[number][0];

type Values = Record<Field, string> & { shrink: boolean; closes: boolean; schedule: TradingHours | null };

const COUNTS: readonly Field[] = [
  'maxOpenPositions',
  'maxEntriesPerMinute',
  'maxLossesInARow',
  'cooldownMinutes',
];
const LISTS: readonly Field[] = ['allowedTokens', 'blockedTokens'];

function toValues(limits: Limits): Values {
  const text = (value: Limits[Field]) =>
    value === null ? '' : Array.isArray(value) ? value.join(', ') : String(value);
  const texts = Object.fromEntries(FIELDS.map(([name]) => [name, text(limits[name])])) as Record<
    Field,
    string
  >;
  return { ...texts, shrink: limits.shrink, closes: limits.onBreach === 'close', schedule: limits.schedule };
}

/** As the server takes them: an empty field is no limit, and what cannot be read is left to the server to refuse. */
function toBody({ shrink, closes, schedule, ...texts }: Values): object {
  const limitOf = (name: Field) => {
    const text = texts[name].trim();
    if (text === '') return null;
    if (LISTS.includes(name)) return text.split(/[\s,;]+/).filter(Boolean);
    return COUNTS.includes(name) && /^\d+$/.test(text) ? Number(text) : text;
  };
  return {
    ...Object.fromEntries(FIELDS.map(([name]) => [name, limitOf(name)])),
    shrink,
    schedule,
    onBreach: closes ? 'close' : 'stop',
  };
}

export default function EditLimitsDialog(props: {
  path: string;
  answer: RiskLimitsAnswer;
  /** Others than administrators may only tighten. */
  mayLoosen: boolean;
  refresh: readonly string[];
  onClose: () => void;
}) {
  const { path, answer, mayLoosen, refresh, onClose } = props;
  const { limits, scope } = answer;
  const { displayTimezone: timeZone } = useSession();
  const client = useQueryClient();
  const form = useForm<Values>({ initialValues: toValues(limits), focusError: true });
  const save = useMutation({
    mutationFn: (values: Values) => requestJson(path, { method: 'PUT', body: toBody(values) }),
    onSuccess: () =>
      toastSuccess({ title: 'Limits Saved', message: `${scope.title}: they apply from now on.` }),
    onSettled: () => Promise.all(refresh.map((one) => client.invalidateQueries({ queryKey: [one] }))),
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
    <Dialog opened onClose={dialog.close} title={`Limits: ${scope.title}`} size="lg">
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          {mayLoosen ? null : (
            <Alert color="blue">
              You can tighten your limits. Only an administrator can loosen them again.
            </Alert>
          )}
          <div className={classes.fields}>
            {FIELDS.map(([name, label, description]) => (
              <TextInput
                key={name}
                label={label}
                description={description}
                placeholder="No limit"
                autoComplete="off"
                {...(COUNTS.includes(name) ? { inputMode: 'numeric' as const } : {})}
                {...form.field(name)}
              />
            ))}
            <Checkbox
              className={classes.wide ?? ''}
              label="Size entries down to fit exposure and risk, instead of denying them"
              {...form.checkbox('shrink')}
            />
            <Checkbox
              className={classes.wide ?? ''}
              label="Close all positions when daily loss, drawdown or losses in a row are reached"
              description="Otherwise only new entries stop. What is not known closes nothing"
              {...form.checkbox('closes')}
            />
            {scope.kind === 'program' ? null : (
              <TradingHoursField
                hours={form.values.schedule}
                zone={timeZone}
                error={form.errors.schedule}
                onChange={(schedule) => form.setValues({ schedule })}
              />
            )}
          </div>
          <FormEnd
            error={save.error}
            errorTitle="Failed to Save Limits"
            fallback="The limits were not saved"
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

function errorsOf({ body }: ApiError): Partial<Record<keyof Values, string>> {
  const named = (body?.errors ?? []).map(({ path, message }) => [path.split('.')[0] ?? path, message]);
  return Object.fromEntries(
    named.filter(([name]) => name === 'schedule' || FIELDS.some(([field]) => field === name)),
  );
}
