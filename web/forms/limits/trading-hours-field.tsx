import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useId } from 'react';
import classes from './limits.module.css';
import { DAYS, dayName, type TradingHours, type TradingWindow } from './limits-data.ts';

const WORK_DAYS: TradingWindow = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '22:00' };
const MOST_WINDOWS = 20;

/** The windows in which entries are allowed; without them they are allowed at any time. */
export function TradingHoursField(props: {
  hours: TradingHours | null;
  /** The zone of new hours. */
  zone: string;
  error: string | undefined;
  onChange: (hours: TradingHours | null) => void;
}) {
  const { hours, zone, error, onChange } = props;
  const errorId = useId();
  const change = (windows: TradingWindow[]) => hours && onChange({ ...hours, windows });
  const replace = (index: number, window: Partial<TradingWindow>) =>
    change((hours?.windows ?? []).map((one, at) => (at === index ? { ...one, ...window } : one)));
  return (
    <Stack gap="xs" className={classes.wide ?? ''}>
      <Checkbox
        data-field="schedule"
        label="Entries only within trading hours"
        description="Closing and protecting go on at any time"
        checked={hours !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? { zone, windows: [WORK_DAYS] } : null)}
        aria-describedby={error === undefined ? undefined : errorId}
      />
      {hours === null ? null : (
        <>
          <TextInput
            label="Time zone"
            description="Such as Europe/Berlin; summer time is followed"
            autoComplete="off"
            value={hours.zone}
            onChange={(event) => onChange({ ...hours, zone: event.currentTarget.value.trim() })}
          />
          {hours.windows.map((window, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: windows have no identity but their place
            <fieldset key={index} className={classes.window}>
              <legend>Window {index + 1}</legend>
              <Group gap="sm">
                {DAYS.map((day) => (
                  <Checkbox
                    key={day}
                    size="xs"
                    label={dayName(day)}
                    checked={window.days.includes(day)}
                    onChange={(event) => {
                      const isOn = event.currentTarget.checked;
                      const days = DAYS.filter((one) => (one === day ? isOn : window.days.includes(one)));
                      replace(index, { days });
                    }}
                  />
                ))}
              </Group>
              <Group gap="sm" align="end">
                <TextInput
                  type="time"
                  label="From"
                  value={window.from}
                  onChange={(event) => replace(index, { from: event.currentTarget.value })}
                />
                <TextInput
                  type="time"
                  label="To"
                  value={window.to === '24:00' ? '00:00' : window.to}
                  onChange={(event) => replace(index, { to: event.currentTarget.value })}
                />
                <Button
                  variant="subtle"
                  color="red"
                  disabled={hours.windows.length === 1}
                  onClick={() => change(hours.windows.filter((_, at) => at !== index))}
                >
                  Remove
                </Button>
              </Group>
              {window.to !== '24:00' && window.to <= window.from ? (
                <Text size="xs" c="dimmed">
                  Ends on the next day
                </Text>
              ) : null}
            </fieldset>
          ))}
          <Button
            variant="default"
            size="xs"
            className={classes.add ?? ''}
            disabled={hours.windows.length >= MOST_WINDOWS}
            onClick={() => change([...hours.windows, WORK_DAYS])}
          >
            Add window
          </Button>
        </>
      )}
      {error === undefined ? null : (
        <Text id={errorId} size="xs" c="red" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  );
}
