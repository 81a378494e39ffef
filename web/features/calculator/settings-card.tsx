import { Alert, Button } from '@mantine/core';
import { IconCalculator } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import type { UserSettings } from '#contract/settings.ts';
import {
  CALCULATION_BEHAVIORS,
  DISABLED_SIZING_METHODS,
  isSizingMethod,
  MARKET_TYPES,
  SIZING_METHODS,
} from '#domain/user-settings.ts';
import { Select } from '#web/forms/select.tsx';
import { Panel } from '../../ui/panel.tsx';
import { prepareCalculation } from './calculate.ts';
import {
  type CalculationSettings,
  type Option,
  portionOptions,
  riskOptions,
  settingsOfMethod,
} from './calculation-settings.ts';
import classes from './calculator.module.css';

const ChangedElsewhere = lazy(async () => ({
  default: (await import('#web/forms/changed-elsewhere.tsx')).ChangedElsewhere,
}));

interface SettingsCardProps {
  stored: UserSettings;
  settings: CalculationSettings;
  username: string;
  calculating: boolean;
  changedElsewhere: { label: string; stored: string }[];
  onChange: (settings: CalculationSettings) => void;
  onTakeTheirs: () => void;
  onKeepMine: () => void;
  onCalculate: () => void;
}

const comingSoon = (value: string) => ({ value, label: `${value} (Coming Soon)`, disabled: true });

const BEHAVIOR_OPTIONS = CALCULATION_BEHAVIORS.map((value) =>
  value === 'Futures_Limit_Classic' ? value : comingSoon(value),
);
const MARKET_OPTIONS = MARKET_TYPES.map((value) => (value === 'Futures' ? value : comingSoon(value)));
const METHOD_OPTIONS = [...SIZING_METHODS, ...DISABLED_SIZING_METHODS.map(comingSoon)];

export function SettingsCard(props: SettingsCardProps) {
  const { stored, settings, username, calculating, changedElsewhere, onChange, onCalculate } = props;
  return (
    <Panel
      title="Calculation Settings"
      description={`Saved as the settings of ${username} when you calculate`}
    >
      <div className={classes.form}>
        <Select
          label="Calculation Behavior"
          description="Fixed, not editable"
          data={BEHAVIOR_OPTIONS}
          value="Futures_Limit_Classic"
          disabled
          onChange={() => {}}
        />
        <Select
          label="Market Type"
          description="Only futures can be calculated"
          data={MARKET_OPTIONS}
          value="Futures"
          onChange={() => {}}
        />
        <Select
          label="Position Sizing Method"
          description="How the investment follows from balance and risk"
          data={METHOD_OPTIONS}
          value={settings.positionSizingMethod}
          onChange={({ currentTarget: { value } }) => {
            if (isSizingMethod(value)) onChange(settingsOfMethod(value, stored));
          }}
        />
        <Fraction
          label="Investment Portion"
          description="Share of the available balance, max 33%"
          autoLabel="Auto"
          autoDescription="Calculated from the risk limit, max 33%"
          value={settings.investmentPortion}
          options={portionOptions}
          onChange={(investmentPortion) => onChange({ ...settings, investmentPortion })}
        />
        <Fraction
          label="Maximum Risk per Trade"
          description="Share of the available balance lost at the stop, max 15%"
          autoLabel="auto"
          autoDescription="Calculated from the stop loss, capped at 15%"
          value={settings.maximumRiskPerTrade}
          options={riskOptions}
          onChange={(maximumRiskPerTrade) => onChange({ ...settings, maximumRiskPerTrade })}
        />
      </div>
      {stored.marketType === 'Futures' ? null : (
        <Alert color="yellow" className={classes.notice}>
          The stored market type is {stored.marketType}; a calculation saves Futures.
        </Alert>
      )}
      {changedElsewhere.length > 0 ? (
        <Suspense fallback={null}>
          <ChangedElsewhere
            fields={changedElsewhere}
            onTakeTheirs={props.onTakeTheirs}
            onKeepMine={props.onKeepMine}
          />
        </Suspense>
      ) : null}
      <div className={classes.actions} data-end>
        <Button
          leftSection={<IconCalculator size={16} aria-hidden />}
          disabled={calculating || changedElsewhere.length > 0}
          onPointerEnter={prepareCalculation}
          onFocus={prepareCalculation}
          onClick={onCalculate}
        >
          {calculating ? 'Calculating...' : 'Calculate'}
        </Button>
      </div>
    </Panel>
  );
}

interface FractionProps {
  label: string;
  description: string;
  /** Shown while the method calculates the value. */
  autoLabel: string;
  autoDescription: string;
  value: string | null;
  options: (current: string) => Option[];
  onChange: (fraction: string) => void;
}

function Fraction(props: FractionProps) {
  const { label, autoLabel, value, options, onChange } = props;
  const isAuto = value === null;
  return (
    <Select
      label={label}
      description={isAuto ? props.autoDescription : props.description}
      data={isAuto ? [autoLabel] : options(value)}
      value={value ?? autoLabel}
      disabled={isAuto}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
