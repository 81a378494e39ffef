import { useState } from 'react';
import type { Decision } from '#contract/decisions.ts';
import { formatFullPrice, formatQuantity } from '../lib/figures.ts';
import { countPages, formatCount } from '../lib/format.ts';
import { useSession } from '../lib/session.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import { Badge } from '../ui/badge.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Link } from '../ui/link.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { SideBadge, TimeframeBadge, TokenBadge } from '../ui/trading-badges.tsx';
import { useReadableInstants } from '../ui/use-readable-instants.ts';
import { type CardColumn, CardTable } from './card-table.tsx';
import classes from './decisions.module.css';
import { decisionLook, useDecisions } from './decisions-data.ts';
import { FilterSelect } from './filter-select.tsx';
import { Pager } from './pager.tsx';
import { SearchField } from './search-field.tsx';

const OUTCOMES = [
  { value: 'traded', label: 'Traded' },
  { value: 'not_traded', label: 'Not traded' },
];
const LONGEST_REASON = 100;
const PAGE_SIZE = 20;

interface DecisionsDialogProps {
  userId: string;
  username: string;
  onClose: () => void;
}

/** Every signal with what became of it for one user, and why: filtered, paged, newest first. */
export default function DecisionsDialog({ userId, username, onClose }: DecisionsDialogProps) {
  const [filter, setFilter] = useState<{
    page: number;
    outcome?: string | undefined;
    reason?: string | undefined;
  }>({
    page: 1,
  });
  const { user } = useSession();
  const query = useDecisions(userId, { ...filter, limit: PAGE_SIZE });
  const formatInstant = useFormatInstant();
  const readable = useReadableInstants();
  const isFiltered = filter.outcome !== undefined || filter.reason !== undefined;
  const columns: CardColumn<Decision>[] = [
    {
      header: 'Signal',
      place: 'title',
      cell: ({ token, action }) => (
        <span className={classes.signal}>
          <TokenBadge token={token} /> <SideBadge side={action} />
        </span>
      ),
    },
    { header: 'Time', cell: ({ at }) => formatInstant(at) },
    { header: 'Processor', cell: ({ processor }) => processor },
    { header: 'Timeframe', cell: ({ timeframe }) => <TimeframeBadge timeframe={timeframe} /> },
    { header: 'Price', align: 'right', cell: ({ price }) => formatFullPrice(price) },
    {
      header: 'Result',
      cell: ({ result, trigger, filledQuantity, averagePrice }) => {
        const [word, tone] = decisionLook(result);
        return (
          <>
            <Badge tone={tone}>{word}</Badge>
            <span className={classes.quiet}>
              {filledQuantity === null
                ? ''
                : ` ${formatQuantity(filledQuantity)} at ${formatFullPrice(averagePrice)}`}
              {trigger === 'manual' ? ' (triggered by hand)' : ''}
            </span>
          </>
        );
      },
    },
    // Ordinary users have no list of signals to look into.
    ...(user.isAdmin
      ? [
          {
            header: 'Why',
            place: 'action' as const,
            cell: ({ signalId, workflowId }: Decision) => (
              <Link
                to="/signals"
                search={{ dialog: 'users', tab: 'why', signal: signalId, workflow: workflowId, user: userId }}
              >
                Explain
              </Link>
            ),
          },
        ]
      : []),
  ];
  return (
    <Dialog opened onClose={onClose} title={`Decisions - ${username}`} size={980}>
      <div className={classes.filters}>
        <FilterSelect
          label="Outcome"
          allLabel="Traded or not"
          value={filter.outcome}
          options={OUTCOMES}
          onChange={(outcome) => setFilter({ ...filter, outcome, page: 1 })}
        />
        <SearchField
          label="Search reasons"
          value={filter.reason ?? ''}
          maxLength={LONGEST_REASON}
          onSearch={(text) => setFilter({ ...filter, reason: text.trim() || undefined, page: 1 })}
        />
        <span className={classes.count} aria-live="polite">
          {query.data === undefined ? '' : countText(query.data.total)}
        </span>
      </div>
      <QueryView query={query} errorTitle="Failed to fetch the decisions">
        {({ decisions, total }) => (
          <>
            <CardTable
              label={`Decisions on ${username}`}
              columns={columns}
              rows={decisions}
              rowId={({ workflowId }) => workflowId}
              emptyText={isFiltered ? 'No decisions match' : 'No signals have arrived since this user exists'}
              minWidth={760}
              note={({ reason }) =>
                reason === null ? null : <p className={classes.reason}>{readable(reason)}</p>
              }
              faded={query.isPlaceholderData}
            />
            <Pager
              page={filter.page}
              pageCount={countPages(total, PAGE_SIZE)}
              onPage={(page) => setFilter({ ...filter, page })}
            />
          </>
        )}
      </QueryView>
    </Dialog>
  );
}

const countText = (total: number) => (total === 1 ? '1 decision' : `${formatCount(total)} decisions`);
