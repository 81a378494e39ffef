import { Button, Progress } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { StatementArchives as Archives } from '#contract/statements.ts';
import { Select } from '#web/forms/select.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { formatCount } from '../../lib/format.ts';
import { lastMonths } from '../../lib/last-months.ts';
import { useSession } from '../../lib/session.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useChange } from '../../ui/use-change.ts';
import classes from './performance.module.css';

const PATH = '/api/admin/statement-archives';
const WORKING_REFRESH_MS = 1_000;

/** The statements of all users of a month in one file, for administrators. */
export default function StatementArchives() {
  const { displayTimezone } = useSession();
  const months = lastMonths(new Date(), displayTimezone);
  // The last whole month.
  const [month, setMonth] = useState(months[1] ?? '');
  const query = useQuery<Archives>({
    queryKey: [PATH],
    refetchInterval: ({ state }) =>
      state.data?.archives.some((archive) => archive.state === 'working') ? WORKING_REFRESH_MS : false,
  });
  const request = useChange<{ id: string }>({
    send: () => requestJson(PATH, { method: 'POST', body: { month } }),
    failed: { title: 'The statements were not requested' },
    refresh: [PATH],
  });
  return (
    <Panel
      title="Statements of all users"
      description="One ZIP file with a page and a CSV file for each user, and a list of all; kept for a day"
      aside={
        <>
          <Select
            size="xs"
            aria-label="Month of all statements"
            data={months.map((value) => ({ value, label: value.replace('-', '/') }))}
            value={month}
            onChange={({ currentTarget }) => setMonth(currentTarget.value)}
          />
          <Button size="xs" variant="default" disabled={request.isPending} onClick={() => request.mutate()}>
            Generate
          </Button>
        </>
      }
    >
      <QueryView query={query} errorTitle="Failed to fetch the statements of all users">
        {({ archives }) =>
          archives.length === 0 ? (
            <EmptyState>Choose a month and generate the statements of all users.</EmptyState>
          ) : (
            <ul className={classes.archives} aria-label="Statements of all users">
              {archives.map((archive) => (
                <ArchiveRow key={archive.id} archive={archive} />
              ))}
            </ul>
          )
        }
      </QueryView>
    </Panel>
  );
}

function ArchiveRow({ archive }: { archive: Archives['archives'][number] }) {
  const { id, month, state, users, done, incomplete, bytes, createdAt, createdBy } = archive;
  const formatInstant = useFormatInstant();
  const counted = users === 1 ? '1 user' : `${formatCount(users ?? 0)} users`;
  return (
    <li>
      <div className={classes.archive}>
        <strong>{month.replace('-', '/')}</strong>
        <span role="status">
          {state === 'working' && users === null ? 'Waiting to begin' : null}
          {state === 'working' && users !== null ? `${formatCount(done)} of ${counted}` : null}
          {state === 'failed' ? 'Failed: see the log of the server' : null}
          {state === 'ready' ? `${counted}, ${sizeOf(bytes ?? 0)}` : null}
          {state === 'ready' && incomplete > 0 ? `, ${formatCount(incomplete)} incomplete` : null}
        </span>
        <span className={classes.requested}>
          {formatInstant(createdAt)}
          {createdBy === null ? '' : ` by ${createdBy}`}
        </span>
        {state === 'ready' ? (
          <Button
            component="a"
            size="xs"
            variant="default"
            href={`${PATH}/${id}/download`}
            download={`statements-${month}.zip`}
          >
            Download
          </Button>
        ) : null}
      </div>
      {state === 'working' ? (
        <Progress
          mt={6}
          size="sm"
          value={users === null || users === 0 ? 0 : (done / users) * 100}
          aria-label={`${formatCount(done)} of ${counted}`}
        />
      ) : null}
    </li>
  );
}

const sizeOf = (bytes: number) =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
