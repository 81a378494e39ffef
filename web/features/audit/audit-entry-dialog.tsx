import type { AuditEntry } from '#contract/audit.ts';
import { capitalise } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Section } from '../../ui/section.tsx';
import classes from './audit-entry-dialog.module.css';
import { actorKind, fieldsOf, subjectKind } from './describe-entry.ts';

interface AuditEntryDialogProps {
  entry: AuditEntry;
  onClose: () => void;
}

export default function AuditEntryDialog({ entry, onClose }: AuditEntryDialogProps) {
  const formatInstant = useFormatInstant();
  const { id, sequence, at, actor, address, action, subject, requestId } = entry;
  const kindOfActor = actorKind(entry);
  const kindOfSubject = subjectKind(entry);
  return (
    <Dialog opened onClose={onClose} title={capitalise(action) || 'Audit Entry'} size={720}>
      <div className={classes.parts}>
        <Facts
          columns={2}
          facts={[
            ['Time', formatInstant(at)],
            ['Sequence', sequence ?? 'Not sealed yet'],
            ['Who', actor.name],
            ['Address', address ?? ''],
            ...shownIf(kindOfActor, 'Kind of actor'),
            ...shownIf(actor.id, 'Actor ID'),
            ['Subject', subject?.name ?? ''],
            ...shownIf(kindOfSubject, 'Kind of subject'),
            ...shownIf(subject?.id, 'Subject ID'),
            ['Request ID', requestId ?? ''],
            ['Entry ID', id],
          ]}
        />
        <Section title="Before and after">
          <BeforeAndAfter entry={entry} />
        </Section>
      </div>
    </Dialog>
  );
}

const shownIf = (value: string | null | undefined, name: string): [string, string][] =>
  value ? [[name, value]] : [];

function BeforeAndAfter({ entry }: { entry: AuditEntry }) {
  const fields = fieldsOf(entry, useFormatInstant());
  if (fields.length === 0) return <p className={classes.nothing}>This entry has no values.</p>;
  return (
    <table className={classes.values} aria-label="Before and after">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, before, after, isChanged }) => (
          <tr key={name} data-changed={isChanged || undefined}>
            <th scope="row">{capitalise(name)}</th>
            <td>{before}</td>
            <td>{after}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
