import { Alert, Button } from '@mantine/core';
import { IconCalculator } from '@tabler/icons-react';
import type { UserSettings } from '#contract/settings.ts';
import { isSizingMethod } from '#domain/user-settings.ts';
import { Select } from '#web/forms/select.tsx';
import {
  BEHAVIOR_OPTIONS,
  MARKET_OPTIONS,
  METHOD_OPTIONS,
  portionOptions,
  riskOptions,
} from '#web/forms/sizing-settings.ts';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { prepareCalculation } from './calculate.ts';
import { type CalculationSettings, settingsOfMethod } from './calculation-settings.ts';
import classes from './calculator.module.css';

const ChangedElsewhere = lazily(async () => ({
  default: (await import('#web/forms/changed-elsewhere.tsx')).ChangedElsewhere,
}));

interface SettingsCardProps {
  stored: UserSettings;
  settings: CalculationSettings;
  username: string;
  calculating: boolean;
  changedElsewhere: { label: string; stored: string }[];
  /** Whether calculating stores the settings. */
  save: boolean;
  onSave: (save: boolean) => void;
  onChange: (settings: CalculationSettings) => void;
  onTakeTheirs: () => void;
  onKeepMine: () => void;
  onCalculate: () => void;
}

export function SettingsCard(props: SettingsCardProps) {
  const { stored, settings, username, calculating, changedElsewhere, onChange, onCalculate } = props;
  const { investmentPortion, maximumRiskPerTrade } = settings;
  return (
    <Panel title="Calculation Settings">
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
        <Select
          label="Investment Portion"
          description={
            investmentPortion === null
              ? 'Calculated from the risk limit, max 33%'
              : 'Share of the available balance, max 33%'
          }
          data={investmentPortion === null ? ['Auto'] : portionOptions(investmentPortion)}
          value={investmentPortion ?? 'Auto'}
          disabled={investmentPortion === null}
          onChange={(event) => onChange({ ...settings, investmentPortion: event.currentTarget.value })}
        />
        <Select
          label="Maximum Risk per Trade"
          description={
            maximumRiskPerTrade === null
              ? 'Calculated from the stop loss, capped at 15%'
              : 'Share of the available balance lost at the stop, max 15%'
          }
          data={maximumRiskPerTrade === null ? ['auto'] : riskOptions(maximumRiskPerTrade)}
          value={maximumRiskPerTrade ?? 'auto'}
          disabled={maximumRiskPerTrade === null}
          onChange={(event) => onChange({ ...settings, maximumRiskPerTrade: event.currentTarget.value })}
        />
      </div>
      {stored.marketType === 'Futures' || !props.save ? null : (
        <Alert color="yellow" className={classes.notice}>
          The stored market type is {stored.marketType}; a calculation saves Futures.
        </Alert>
      )}
      {changedElsewhere.length > 0 ? (
        <ChangedElsewhere
          fields={changedElsewhere}
          onTakeTheirs={props.onTakeTheirs}
          onKeepMine={props.onKeepMine}
        />
      ) : null}
      <div className={classes.actions} data-end>
        {/* Mantine's switch would not fit into the page's script budget. */}
        <label className={classes.save}>
          <input
            type="checkbox"
            role="switch"
            checked={props.save}
            aria-checked={props.save}
            disabled={calculating}
            onChange={(event) => props.onSave(event.currentTarget.checked)}
          />
          Save as {username}'s settings
        </label>
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
