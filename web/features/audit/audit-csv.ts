import type { AuditEntry, AuditValues } from '#contract/audit.ts';
import type { CsvFormat } from '#web/lists/list-screen.tsx';
import { formatInstant } from '../../lib/format.ts';

const json = (values: AuditValues | null) => values && JSON.stringify(values);

/** All fields of an entry. */
export const auditCsv = (timeZone: string): CsvFormat<AuditEntry> => ({
  receivedAt: ({ at }) => at,
  columns: [
    { header: 'ID', cell: ({ id }) => id },
    { header: 'Sequence', cell: ({ sequence }) => sequence },
    { header: 'Time', cell: ({ at }) => formatInstant(at, timeZone) },
    { header: 'Actor', cell: ({ actor }) => actor.name },
    { header: 'Actor Kind', cell: ({ actor }) => actor.kind },
    { header: 'Actor ID', cell: ({ actor }) => actor.id },
    { header: 'Address', cell: ({ address }) => address },
    { header: 'Action', cell: ({ action }) => action },
    { header: 'Subject', cell: ({ subject }) => subject?.name ?? null },
    { header: 'Subject Kind', cell: ({ subject }) => subject?.kind ?? null },
    { header: 'Subject ID', cell: ({ subject }) => subject?.id ?? null },
    { header: 'Before', cell: ({ before }) => json(before) },
    { header: 'After', cell: ({ after }) => json(after) },
    { header: 'Request ID', cell: ({ requestId }) => requestId },
  ],
});
