import { Button } from '@mantine/core';
import { useState } from 'react';
import { Select } from '../forms/select.tsx';
import { useSession } from '../lib/session.ts';
import { toWallClock } from '../lib/wall-clock.ts';
import { Panel } from '../ui/panel.tsx';
import { EmptyState } from '../ui/states.tsx';

const MONTHS = 24;
const FILES = [
  { format: 'html', label: 'Print' },
  { format: 'csv', label: 'CSV' },
  { format: 'json', label: 'JSON' },
] as const;

/** The current month of the zone and those before it, as 'yyyy-MM'. */
function lastMonths(now: Date, timeZone: string): string[] {
  const [year = 0, month = 0] = toWallClock(now.toISOString(), timeZone).split('-').map(Number);
  return Array.from({ length: MONTHS }, (_, ago) =>
    new Date(Date.UTC(year, month - 1 - ago)).toISOString().slice(0, 'yyyy-MM'.length),
  );
}

/** A month of a user's wallet, as a page to print or a file. */
export default function StatementsPanel({ userId }: { userId: string | undefined }) {
  const { displayTimezone } = useSession();
  const months = lastMonths(new Date(), displayTimezone);
  const [chosen, setChosen] = useState<string>();
  const month = chosen ?? months[0] ?? '';
  return (
    <Panel
      title="Monthly statement"
      description="Opening balance, every line and closing balance of a wallet, and the fee computed from its high-water mark"
      aside={
        userId === undefined ? null : (
          <>
            <Select
              size="xs"
              aria-label="Month of the statement"
              data={months.map((value) => ({ value, label: value.replace('-', '/') }))}
              value={month}
              onChange={({ currentTarget }) => setChosen(currentTarget.value)}
            />
            <Button.Group aria-label="Statement">
              {FILES.map(({ format, label }) => (
                <Button
                  key={format}
                  component="a"
                  size="xs"
                  variant="default"
                  href={`/api/statements/${userId}?month=${month}&format=${format}`}
                  {...(format === 'html'
                    ? { target: '_blank', rel: 'noopener' }
                    : { download: `statement-${month}.${format}` })}
                >
                  {label}
                </Button>
              ))}
            </Button.Group>
          </>
        )
      }
    >
      {userId === undefined ? <EmptyState>Choose a user above to get a statement.</EmptyState> : null}
    </Panel>
  );
}
