import { Button, Group, NativeSelect } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { UserSettings } from '#contract/settings.ts';
import {
  ANY_PROCESSOR,
  CALCULATION_BEHAVIORS,
  DISABLED_SIZING_METHODS,
  EXCHANGE_PLATFORMS,
  isSizingMethod,
  MARKET_TYPES,
  SIGNAL_PROCESSORS,
  SIZING_METHODS,
} from '#domain/user-settings.ts';
import { serverMessage } from '../../lib/api-client.ts';
import { Panel } from '../../ui/panel.tsx';
import { ErrorBanner } from '../../ui/states.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { useUnsavedChanges } from '../../ui/unsaved-changes.ts';
import { useSignalTimeframes } from './get-settings.ts';
import { useSaveSettings } from './save-settings.ts';
import {
  AUTO,
  formValues,
  fractionsFor,
  portionOptions,
  riskOptions,
  type SettingsFormValues,
  savedMessage,
  settingsBody,
} from './settings-form-values.ts';
import classes from './settings-screen.module.css';
import { takeOverStored } from './take-over-stored.ts';

interface TradingSettingsCardProps {
  settings: UserSettings;
  /** Set in admin mode. */
  otherUser: { id: string; username: string } | null;
}

const SIZING_OPTIONS = [
  ...SIZING_METHODS.map((value) => ({ value, label: value })),
  ...DISABLED_SIZING_METHODS.map((value) => ({ value, label: `${value} (Coming Soon)`, disabled: true })),
];

const AUTO_OPTION = [{ value: AUTO, label: AUTO }];

const withCurrent = (listed: readonly string[], current: string): string[] =>
  listed.includes(current) ? [...listed] : [...listed, current];

export function TradingSettingsCard({ settings, otherUser }: TradingSettingsCardProps) {
  const timeframes = useSignalTimeframes();
  const save = useSaveSettings(otherUser?.id ?? null);
  const form = useForm<SettingsFormValues>({ initialValues: formValues(settings) });
  const { values } = form;

  useUnsavedChanges(form.isDirty());

  const submit = form.onSubmit((sent) =>
    save.mutate(settingsBody(sent), {
      onSuccess: ({ data }) => {
        takeOverStored(form, { sent, stored: formValues(data) });
        toastSuccess({ title: 'Settings Updated', message: savedMessage(otherUser) });
      },
      onError: (error) =>
        toastError({ title: 'Error', message: serverMessage(error, 'Failed to update settings') }),
    }),
  );

  const changeMethod = (text: string) => {
    if (!isSizingMethod(text)) return;
    form.setValues({ positionSizingMethod: text, ...fractionsFor(text, settings) });
  };

  const portionIsAuto = values.investmentPortion === AUTO;
  const riskIsAuto = values.maximumRiskPerTrade === AUTO;

  return (
    <Panel title="Trading settings">
      <form onSubmit={submit} className={classes.form}>
        <NativeSelect
          label="Market type"
          data={MARKET_TYPES.map((value) => ({
            value,
            label: value === 'Spot' ? 'Spot (Coming Soon)' : value,
            disabled: value === 'Spot',
          }))}
          {...form.getInputProps('marketType')}
        />
        <NativeSelect
          label="Position sizing method"
          data={SIZING_OPTIONS}
          value={values.positionSizingMethod}
          onChange={(event) => changeMethod(event.currentTarget.value)}
        />
        <NativeSelect
          label="Investment portion"
          description="Share of the balance per position"
          data={portionIsAuto ? AUTO_OPTION : portionOptions(values.investmentPortion)}
          disabled={portionIsAuto}
          {...form.getInputProps('investmentPortion')}
        />
        <NativeSelect
          label="Maximum risk per trade"
          description="Loss limit if the stop is hit"
          data={riskIsAuto ? AUTO_OPTION : riskOptions(values.maximumRiskPerTrade)}
          disabled={riskIsAuto}
          {...form.getInputProps('maximumRiskPerTrade')}
        />
        <NativeSelect
          label="Exchange platform"
          data={withCurrent(EXCHANGE_PLATFORMS, values.exchangePlatform)}
          {...form.getInputProps('exchangePlatform')}
        />
        <NativeSelect
          label="Signal processor"
          data={withCurrent([...SIGNAL_PROCESSORS, ANY_PROCESSOR], values.signalProcessor)}
          {...form.getInputProps('signalProcessor')}
        />
        <NativeSelect
          label="Signal timeframe"
          description="Signals of other timeframes are skipped"
          data={withCurrent(timeframes.data ?? [], values.signalTimeframe)}
          {...form.getInputProps('signalTimeframe')}
        />
        <NativeSelect
          label="Stop loss / take profit calculation"
          description="This parameter is reserved for future development and cannot be modified"
          data={[...CALCULATION_BEHAVIORS]}
          disabled
          {...form.getInputProps('calculationBehavior')}
        />
        {timeframes.isError ? (
          <div className={classes.wide}>
            <ErrorBanner
              title="Failed to fetch timeframes"
              error={timeframes.error}
              onRetry={() => void timeframes.refetch()}
              retrying={timeframes.isFetching}
            />
          </div>
        ) : null}
        <Group justify="flex-end" gap="md" className={classes.wide}>
          <Button variant="default" disabled={!form.isDirty() || save.isPending} onClick={form.reset}>
            Discard
          </Button>
          <Button type="submit" disabled={save.isPending}>
            {save.isPending ? 'Saving...' : 'Save Settings'}
          </Button>
        </Group>
      </form>
    </Panel>
  );
}
