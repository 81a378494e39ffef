import { Button } from '@mantine/core';
import { IconShieldCheck } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { AuditAnswer, AuditEntry } from '#contract/audit.ts';
import { AUDIT_ACTIONS } from '#contract/audit-actions.ts';
import type { ListFilter } from '#web/lists/list-filters.tsx';
import { ListScreen, useList } from '#web/lists/list-screen.tsx';
import { useKeptRow } from '#web/lists/use-kept-row.ts';
import { capitalise, formatCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { lazily } from '../../ui/lazily.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { auditColumns } from './audit-columns.tsx';
import { AuditFilters } from './audit-filters.tsx';
import type { AuditSearch } from './audit-search.ts';

const AuditEntryDialog = lazily(() => import('./audit-entry-dialog.tsx'));

interface AuditScreenProps {
  search: AuditSearch;
  onSearch: (change: AuditSearch) => void;
}

const FILTERS: readonly ListFilter<AuditSearch>[] = [
  { name: 'action', label: 'Action', list: 'actions', choices: AUDIT_ACTIONS, display: capitalise },
];
const FIELDS = ['actor', 'subject', 'from', 'to'] as const;

const PAGE_SIZE = 50;
const POLL_MS = 30_000;

export function AuditScreen({ search, onSearch }: AuditScreenProps) {
  const formatInstant = useFormatInstant();
  const dialogs = useDialogHistory();
  const columns = useMemo(
    () => auditColumns({ formatInstant, onOpen: ({ id }) => dialogs.open({ entry: id }) }),
    [formatInstant, dialogs],
  );
  const source = {
    path: '/api/audit',
    filters: FILTERS,
    fields: FIELDS,
    pageSize: PAGE_SIZE,
    search,
    untilParam: 'to',
  } as const;
  const entries = useList<AuditAnswer, AuditSearch>(source, { pollMs: POLL_MS, announced: false });
  const { data } = entries;
  const shown = useKeptRow<AuditEntry>(data?.entries, search.entry);
  const isFiltered = search.action !== undefined || FIELDS.some((name) => search[name] !== undefined);

  return (
    <ListScreen
      name="audit"
      title="Audit"
      subtitle="Who changed what, and when. Entries cannot be changed or deleted."
      links={<SignedExport search={search} />}
      panelTitle="Audit Trail"
      description={data ? `${formatCount(data.total)} entries` : ''}
      source={source}
      query={entries}
      rowsOf={(answer) => answer.entries}
      columns={columns}
      emptyText={isFiltered ? 'No entries match' : 'No entries'}
      errorTitle="Failed to fetch the audit trail"
      hasClear
      moreFilters={<AuditFilters search={search} onSearch={onSearch} />}
      cards
      onSearch={onSearch}
      loadCsv={async () => (await import('./audit-csv.ts')).auditCsv}
    >
      {shown ? (
        <AuditEntryDialog entry={shown} onClose={() => dialogs.close(() => onSearch({ entry: undefined }))} />
      ) : null}
    </ListScreen>
  );
}

/** The whole entries with their signatures, which `npm run audit:verify` checks without the database. */
function SignedExport({ search }: { search: AuditSearch }) {
  const chosen = (['action', ...FIELDS] as const).flatMap((name) => {
    const value = search[name];
    return value === undefined ? [] : [[name, value]];
  });
  const filter = new URLSearchParams(chosen).toString();
  return (
    <Button
      component="a"
      href={`/api/audit/export${filter === '' ? '' : `?${filter}`}`}
      download
      variant="default"
      leftSection={<IconShieldCheck size={16} aria-hidden />}
    >
      Signed Export
    </Button>
  );
}
