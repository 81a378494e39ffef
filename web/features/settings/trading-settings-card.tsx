import { Button } from '@mantine/core';
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
import { ChangedElsewhere } from '#web/forms/changed-elsewhere.tsx';
import { Select } from '#web/forms/select.tsx';
import { FailedQueries } from '../../ui/failed-queries.tsx';
import { Panel } from '../../ui/panel.tsx';
import { settingsPath, useSignalProcessors, useSignalTimeframes } from './get-settings.ts';
import {
  AUTO,
  FIELD_LABELS,
  formValues,
  fractionsFor,
  portionOptions,
  riskOptions,
  type SettingsFormValues,
  savedMessage,
  settingsBody,
  settingsField,
} from './settings-form-values.ts';
import classes from './settings-screen.module.css';
import { useSettingsForm } from './use-settings-form.ts';

interface TradingSettingsCardProps {
  settings: UserSettings;
  /** Set in admin mode. */
  otherUser: { id: string; username: string } | null;
}

const comingSoon = (value: string) => ({ value, label: `${value} (Coming Soon)`, disabled: true });

const SIZING_OPTIONS = [
  ...SIZING_METHODS.map((value) => ({ value, label: value })),
  ...DISABLED_SIZING_METHODS.map(comingSoon),
];

/** Until the list is there. */
const ALWAYS_OFFERED = [...SIGNAL_PROCESSORS, ANY_PROCESSOR];

const MARKET_OPTIONS = MARKET_TYPES.map((value) =>
  value === 'Spot' ? comingSoon(value) : { value, label: value },
);

const BEHAVIOR_OPTIONS = CALCULATION_BEHAVIORS.map((value) =>
  value === 'Futures_Limit_Classic' ? { value, label: value } : comingSoon(value),
);

const AUTO_OPTION = [{ value: AUTO, label: AUTO }];

const withCurrent = (listed: readonly string[], current: string): string[] =>
  listed.includes(current) ? [...listed] : [...listed, current];

export function TradingSettingsCard({ settings, otherUser }: TradingSettingsCardProps) {
  const processors = useSignalProcessors();
  const timeframes = useSignalTimeframes();
  const path = settingsPath(otherUser?.id ?? null);
  const form = useSettingsForm<SettingsFormValues>({
    settings,
    valuesOf: formValues,
    bodyOf: settingsBody,
    path,
    readPath: path,
    savedMessage: savedMessage(otherUser),
  });
  const { values } = form;

  const changeMethod = (text: string) => {
    if (!isSizingMethod(text)) return;
    form.setValues({ positionSizingMethod: text, ...fractionsFor(text, settings) });
  };

  const portionIsAuto = values.investmentPortion === AUTO;
  const riskIsAuto = values.maximumRiskPerTrade === AUTO;

  return (
    <Panel title="Trading settings">
      <form onSubmit={form.submit} className={classes.form}>
        <Select label={FIELD_LABELS.marketType} data={MARKET_OPTIONS} {...form.field('marketType')} />
        <Select
          label={FIELD_LABELS.positionSizingMethod}
          data={SIZING_OPTIONS}
          value={values.positionSizingMethod}
          onChange={(event) => changeMethod(event.currentTarget.value)}
        />
        <Select
          label={FIELD_LABELS.investmentPortion}
          description="Share of the balance per position"
          data={portionIsAuto ? AUTO_OPTION : portionOptions(values.investmentPortion)}
          disabled={portionIsAuto}
          {...form.field('investmentPortion')}
        />
        <Select
          label={FIELD_LABELS.maximumRiskPerTrade}
          description="Loss limit if the stop is hit"
          data={riskIsAuto ? AUTO_OPTION : riskOptions(values.maximumRiskPerTrade)}
          disabled={riskIsAuto}
          {...form.field('maximumRiskPerTrade')}
        />
        <Select
          label={FIELD_LABELS.exchangePlatform}
          data={withCurrent(EXCHANGE_PLATFORMS, values.exchangePlatform)}
          {...form.field('exchangePlatform')}
        />
        <Select
          label={FIELD_LABELS.signalProcessor}
          data={withCurrent(processors.data ?? ALWAYS_OFFERED, values.signalProcessor)}
          {...form.field('signalProcessor')}
        />
        <Select
          label={FIELD_LABELS.signalTimeframe}
          description="Signals of other timeframes are skipped"
          data={withCurrent(timeframes.data ?? [], values.signalTimeframe)}
          {...form.field('signalTimeframe')}
        />
        <Select
          label={FIELD_LABELS.calculationBehavior}
          description="This parameter is reserved for future development and cannot be modified"
          data={BEHAVIOR_OPTIONS}
          disabled
          {...form.field('calculationBehavior')}
        />
        {processors.isError || timeframes.isError ? (
          <div className={classes.wide}>
            <FailedQueries
              queries={[
                { title: 'Failed to fetch processors', query: processors },
                { title: 'Failed to fetch timeframes', query: timeframes },
              ]}
            />
          </div>
        ) : null}
        <ChangedElsewhere
          fields={form.changedElsewhere.map((name) => settingsField(name, formValues(settings)))}
          onTakeTheirs={form.takeTheirs}
          onKeepMine={form.keepMine}
        />
        <div className={classes.buttons}>
          <Button variant="default" disabled={!form.isDirty() || form.saving} onClick={form.reset}>
            Discard
          </Button>
          <Button type="submit" disabled={form.saving || form.changedElsewhere.length > 0}>
            {form.saving ? 'Saving...' : 'Save Settings'}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
