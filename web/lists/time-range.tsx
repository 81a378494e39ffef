import { Button } from '@mantine/core';
import { useSession } from '../lib/session.ts';
import { fromWallClock, toWallClock } from '../lib/wall-clock.ts';

interface TimeRange {
  from?: string | undefined;
  to?: string | undefined;
}

interface TimeRangeChipsProps {
  search: TimeRange;
  onSearch: (change: TimeRange & { page?: undefined }) => void;
}

/** The URL parameters of the range, for `fields` of a list's source. */
export const TIME_FIELDS = ['from', 'to'] as const;

const RANGES = [
  { label: 'Today', days: 1 },
  { label: '7 d', days: 7 },
  { label: '30 d', days: 30 },
  { label: 'All', days: null },
] as const;

const DAY_MS = 86_400_000;

/** The start of the first of so many days up to today, in the display time zone. */
export function startOfDays(
  days: number,
  { now, timeZone }: { now: Date; timeZone: string },
): string | undefined {
  const today = toWallClock(now.toISOString(), timeZone).slice(0, 'yyyy-MM-dd'.length);
  const first = new Date(Date.parse(today) - (days - 1) * DAY_MS).toISOString().slice(0, today.length);
  return fromWallClock(`${first}T00:00`, timeZone) ?? undefined;
}

/** Limits a list to the rows received within the last days. A choice returns to page 1. */
export function TimeRangeChips({ search, onSearch }: TimeRangeChipsProps) {
  const { displayTimezone: timeZone } = useSession();
  const now = new Date();
  return (
    <Button.Group aria-label="Received">
      {RANGES.map(({ label, days }) => {
        const from = days === null ? undefined : startOfDays(days, { now, timeZone });
        const isChosen = search.to === undefined && search.from === from;
        return (
          <Button
            key={label}
            size="xs"
            variant={isChosen ? 'light' : 'default'}
            aria-pressed={isChosen}
            onClick={() => onSearch({ from, to: undefined, page: undefined })}
          >
            {label}
          </Button>
        );
      })}
    </Button.Group>
  );
}
