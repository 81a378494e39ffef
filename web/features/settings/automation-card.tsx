import { Button, Switch, TextInput } from '@mantine/core';
import type { UserSettings } from '#contract/settings.ts';
import { RadioGroup } from '#web/forms/radio-group.tsx';
import { Select } from '#web/forms/select.tsx';
import { useSession } from '../../lib/session.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { settingsPath } from '../../lib/user-paths.ts';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import {
  type AutomationFormValues,
  automationBody,
  automationField,
  automationFormValues,
  OPPOSITE_SIGNAL_LABELS,
  pausedForADay,
  pauseError,
  TRADE_ORDER_SETS,
} from './automation-form-values.ts';
import { savedMessage } from './settings-form-values.ts';
import classes from './settings-screen.module.css';
import { SettingsFormEnd, useSettingsForm } from './use-settings-form.tsx';

interface AutomationCardProps {
  settings: UserSettings;
  user: { id: string; username: string };
  isSelf: boolean;
}

const OPPOSITE_SIGNAL = [
  {
    value: 'reverse',
    label: OPPOSITE_SIGNAL_LABELS.reverse,
    description: "The position is closed at market, and a new one is opened in the signal's direction.",
  },
  {
    value: 'skip',
    label: OPPOSITE_SIGNAL_LABELS.skip,
    description: 'The position stays open, and the signal is not traded for this user.',
  },
];

/** A user's automatic-trading settings that only administrators may change. */
export default function AutomationCard({ settings, user, isSelf }: AutomationCardProps) {
  const { displayTimezone: timeZone } = useSession();
  const form = useSettingsForm<AutomationFormValues>({
    settings,
    valuesOf: (now) => automationFormValues(now, timeZone),
    bodyOf: (values, initial) => automationBody({ values, initial, timeZone }),
    // Always the administrators' path, even for the own account: only administrators may edit these fields.
    path: settingsPath(user.id),
    readPath: settingsPath(isSelf ? null : user.id),
    savedMessage: savedMessage(isSelf ? null : user),
    validate: ({ pausedUntil }, initial) => {
      const error = pauseError({ pausedUntil, initial: initial.pausedUntil, timeZone, nowMs: Date.now() });
      return error === null ? {} : { pausedUntil: error };
    },
  });

  return (
    <Panel
      title="Automation"
      description="How the system trades for this user"
      aside={<PauseBadge pausedUntil={settings.tradingPausedUntil} />}
    >
      <form onSubmit={form.submit} noValidate className={classes.form}>
        <Switch
          className={classes.wide}
          label="Test user"
          description="A test user trades in paper and demo mode only, every other user with real money only."
          {...form.checkbox('isTestUser')}
        />
        <div className={classes.pause}>
          <TextInput
            type="datetime-local"
            label="Trading paused until"
            description={`No new positions before then. Time zone: ${timeZone}`}
            max="9999-12-31T23:59"
            {...form.field('pausedUntil')}
          />
          <div className={classes.row}>
            <Button
              size="xs"
              variant="default"
              onClick={() => form.setValues({ pausedUntil: pausedForADay(Date.now(), timeZone) })}
            >
              Pause 24 h
            </Button>
            <Button
              size="xs"
              variant="default"
              disabled={form.values.pausedUntil === ''}
              onClick={() => form.setValues({ pausedUntil: '' })}
            >
              Resume
            </Button>
          </div>
        </div>
        <Select
          className={classes.top}
          label="Trade order set"
          description="Users of set A are traded first, those of set Z last."
          data={TRADE_ORDER_SETS}
          {...form.field('tradeOrderSet')}
        />
        <RadioGroup
          className={classes.wide}
          label="Opposite signal"
          description="When a signal points against the position that the system holds for this user"
          choices={OPPOSITE_SIGNAL}
          value={form.values.oppositeSignal}
          onChange={form.field('oppositeSignal').onChange}
        />
        <SettingsFormEnd
          form={form}
          describe={(name) => automationField(name, automationFormValues(settings, timeZone))}
          saveLabel="Save Automation"
        />
      </form>
    </Panel>
  );
}

/** Shows the stored pause, not the one being typed. */
function PauseBadge({ pausedUntil }: { pausedUntil: string | null }) {
  const formatInstant = useFormatInstant();
  const isPaused = pausedUntil !== null && new Date(pausedUntil).getTime() > Date.now();
  return isPaused ? (
    <Badge tone="warning">Paused until {formatInstant(pausedUntil)}</Badge>
  ) : (
    <Badge tone="neutral">Not paused</Badge>
  );
}
