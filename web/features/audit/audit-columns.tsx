import type { AuditEntry } from '#contract/audit.ts';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { capitalise } from '../../lib/format.ts';
import { CellButton } from '../../ui/cell-button.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import classes from './audit.module.css';
import { actorDetails, changeSummary, NOTHING, subjectKind, subjectName } from './describe-entry.ts';

interface ColumnOptions {
  formatInstant: (instant: string) => string;
  onOpen: (entry: AuditEntry) => void;
}

export const auditColumns = ({ formatInstant, onOpen }: ColumnOptions): TableColumns<AuditEntry> => [
  { id: 'time', header: 'Time', cell: ({ at }) => formatInstant(at) },
  {
    id: 'who',
    header: 'Who',
    cell: (entry) => <TwoLines text={entry.actor.name} small={actorDetails(entry)} />,
  },
  {
    id: 'action',
    header: 'Action',
    place: 'title',
    cell: (entry) => (
      <CellButton
        text={capitalise(entry.action) || NOTHING}
        opens={`details of the entry of ${formatInstant(entry.at)}`}
        onClick={() => onOpen(entry)}
      />
    ),
  },
  {
    id: 'subject',
    header: 'Subject',
    cell: (entry) => {
      const [name, kind] = [subjectName(entry), subjectKind(entry)];
      return name === '' ? null : <TwoLines text={name} small={kind === name ? '' : kind} />;
    },
  },
  {
    id: 'change',
    header: 'Change',
    cell: (entry) => {
      const summary = changeSummary(entry, formatInstant);
      return summary === '' ? null : <span className={classes.change}>{summary}</span>;
    },
  },
  { id: 'sequence', header: 'Sequence', fold: 2, align: 'right', cell: ({ sequence }) => sequence },
];

function TwoLines({ text, small }: { text: string; small: string }) {
  return (
    <span className={classes.lines}>
      <CutText maxWidth={220}>{text || NOTHING}</CutText>
      {small === '' ? null : <span className={classes.small}>{small}</span>}
    </span>
  );
}
