import { Button } from '@mantine/core';
import { useState } from 'react';
import { Select } from '../forms/select.tsx';
import { lastMonths } from '../lib/last-months.ts';
import { useSession } from '../lib/session.ts';
import { Panel } from '../ui/panel.tsx';
import { EmptyState } from '../ui/states.tsx';

const FILES = [
  { format: 'html', label: 'Print' },
  { format: 'csv', label: 'CSV' },
  { format: 'json', label: 'JSON' },
] as const;

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
