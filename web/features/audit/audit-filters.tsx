import { TextInput } from '@mantine/core';
import { SearchField } from '#web/lists/search-field.tsx';
import { usePausingText } from '#web/lists/use-pausing-text.ts';
import { useSession } from '../../lib/session.ts';
import { fromWallClock, toWallClock } from '../../lib/wall-clock.ts';
import classes from './audit.module.css';
import type { AuditSearch } from './audit-search.ts';

/** The longest text that the server takes. */
const MAX_LENGTH = 100;
const LAST_MS_OF_MINUTE = 59_999;
/** While a year is typed, the field has years such as 0202. */
const FIRST_TIME = '1970-01-01T00:00';

interface AuditFiltersProps {
  search: AuditSearch;
  onSearch: (change: AuditSearch) => void;
}

/** Actor, subject and time; a change returns to page 1. */
export function AuditFilters({ search, onSearch }: AuditFiltersProps) {
  const change = (values: AuditSearch) => onSearch({ ...values, page: undefined });
  return (
    <>
      <SearchField
        label="Actor"
        clearLabel="Clear actor"
        value={search.actor ?? ''}
        maxLength={MAX_LENGTH}
        onSearch={(text) => change({ actor: text || undefined })}
      />
      <SearchField
        label="Subject"
        clearLabel="Clear subject"
        value={search.subject ?? ''}
        maxLength={MAX_LENGTH}
        onSearch={(text) => change({ subject: text || undefined })}
      />
      <TimeField label="From" value={search.from} addedMs={0} onChange={(from) => change({ from })} />
      <TimeField label="To" value={search.to} addedMs={LAST_MS_OF_MINUTE} onChange={(to) => change({ to })} />
    </>
  );
}

interface TimeFieldProps {
  label: string;
  value: string | undefined;
  /** Added to the minute of the field, so that the end of a range includes its minute. */
  addedMs: number;
  onChange: (instant: string | undefined) => void;
}

function TimeField({ label, value, addedMs, onChange }: TimeFieldProps) {
  const { displayTimezone } = useSession();
  const { text, setText } = usePausingText({
    value: toWallClock(value ?? null, displayTimezone),
    onPause: (typed) => {
      const minute = typed < FIRST_TIME ? null : fromWallClock(typed, displayTimezone);
      if (minute !== null) onChange(new Date(Date.parse(minute) + addedMs).toISOString());
      else if (typed === '') onChange(undefined);
    },
  });
  return (
    <TextInput
      type="datetime-local"
      className={classes.time}
      size="xs"
      data-filter
      aria-label={label}
      data-tip={`Time zone: ${displayTimezone}`}
      leftSection={
        <span className={classes.fieldName} aria-hidden>
          {label}
        </span>
      }
      leftSectionWidth={48}
      max="9998-12-31T23:59"
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
    />
  );
}
