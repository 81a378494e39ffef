import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import type { UserSettings } from '#contract/settings.ts';
import {
  ANY_PROCESSOR,
  EXCHANGE_PLATFORMS,
  isSizingMethod,
  SIGNAL_PROCESSORS,
} from '#domain/user-settings.ts';
import { Select } from '#web/forms/select.tsx';
import {
  BEHAVIOR_OPTIONS,
  MARKET_OPTIONS,
  METHOD_OPTIONS,
  portionOptions,
  riskOptions,
} from '#web/forms/sizing-settings.ts';
import { settingsPath } from '../../lib/user-paths.ts';
import { FailedQueries } from '../../ui/failed-queries.tsx';
import { Panel } from '../../ui/panel.tsx';
import {
  AUTO,
  FIELD_LABELS,
  formValues,
  type SettingsFormValues,
  savedMessage,
  settingsBody,
  settingsField,
  shownFractions,
} from './settings-form-values.ts';
import classes from './settings-screen.module.css';
import { SettingsFormEnd, useSettingsForm } from './use-settings-form.tsx';

interface TradingSettingsCardProps {
  settings: UserSettings;
  /** The edited user in admin mode, else null. */
  otherUser: { id: string; username: string } | null;
}

/** Offered until the list has loaded. */
const ALWAYS_OFFERED = [...SIGNAL_PROCESSORS, ANY_PROCESSOR];

const withCurrent = (listed: readonly string[], current: string): string[] =>
  listed.includes(current) ? [...listed] : [...listed, current];

export function TradingSettingsCard({ settings, otherUser }: TradingSettingsCardProps) {
  const processors = useQuery<string[]>({ queryKey: ['/api/user-settings/signal-processors'] });
  const timeframes = useQuery<string[]>({ queryKey: ['/api/user-settings/signal-timeframes'] });
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
    form.setValues({ positionSizingMethod: text, ...shownFractions(text, settings) });
  };

  const select = (name: keyof SettingsFormValues, props: ComponentProps<typeof Select>) => (
    <Select label={FIELD_LABELS[name]} {...form.field(name)} {...props} />
  );
  const portionIsAuto = values.investmentPortion === AUTO;
  const riskIsAuto = values.maximumRiskPerTrade === AUTO;

  return (
    <Panel title="Trading settings">
      <form onSubmit={form.submit} className={classes.form}>
        {select('marketType', { data: MARKET_OPTIONS })}
        {select('positionSizingMethod', {
          data: METHOD_OPTIONS,
          onChange: (event) => changeMethod(event.currentTarget.value),
        })}
        {select('investmentPortion', {
          description: 'Share of the balance per position',
          data: portionIsAuto ? [AUTO] : portionOptions(values.investmentPortion),
          disabled: portionIsAuto,
        })}
        {select('maximumRiskPerTrade', {
          description: 'Loss limit if the stop is hit',
          data: riskIsAuto ? [AUTO] : riskOptions(values.maximumRiskPerTrade),
          disabled: riskIsAuto,
        })}
        {select('exchangePlatform', { data: withCurrent(EXCHANGE_PLATFORMS, values.exchangePlatform) })}
        {select('signalProcessor', {
          data: withCurrent(processors.data ?? ALWAYS_OFFERED, values.signalProcessor),
        })}
        {select('signalTimeframe', {
          description: 'Signals of other timeframes are skipped',
          data: withCurrent(timeframes.data ?? [], values.signalTimeframe),
        })}
        {select('calculationBehavior', {
          description: 'This parameter is reserved for future development and cannot be modified',
          data: BEHAVIOR_OPTIONS,
          disabled: true,
        })}
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
        <SettingsFormEnd
          form={form}
          describe={(name) => settingsField(name, formValues(settings))}
          saveLabel="Save Settings"
        />
      </form>
    </Panel>
  );
}
