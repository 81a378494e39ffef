import type { AuditEntry, AuditValues } from '#contract/audit.ts';
import { capitalise, truncate } from '../../lib/format.ts';

export const NOTHING = '–';

/** Of kinds of a newer server, only their own name is known. */
const ACTOR_KINDS: Readonly<Record<string, string>> = {
  user: 'User',
  token: 'API token',
  command: 'Command',
  program: 'Program',
} satisfies Record<AuditEntry['actor']['kind'], string>;

const SUBJECT_KINDS: Readonly<Record<string, string>> = { token: 'API token' };

export const actorKind = ({ actor }: AuditEntry): string => ACTOR_KINDS[actor.kind] ?? capitalise(actor.kind);

/** Kind and address, of which either may be missing. */
export const actorDetails = (entry: AuditEntry): string =>
  [actorKind(entry), entry.address].filter(Boolean).join(' · ');

export const subjectKind = ({ subject }: AuditEntry): string =>
  subject === null ? '' : (SUBJECT_KINDS[subject.kind] ?? capitalise(subject.kind));

/** Falls back to the id, and for a subject without both, such as the installation, to its kind. */
export const subjectName = (entry: AuditEntry): string =>
  entry.subject?.name || entry.subject?.id || subjectKind(entry);

export interface ChangedField {
  /** In words: 'investment portion'. */
  name: string;
  before: string;
  after: string;
  isChanged: boolean;
}

/** In the time zone of the screen. */
type FormatInstant = (instant: string) => string;

/** All fields of before and after in the order in which they first appear. */
export function fieldsOf(
  { before, after }: Pick<AuditEntry, 'before' | 'after'>,
  formatInstant: FormatInstant,
): ChangedField[] {
  const keys = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...keys].map((key) => {
    const textOf = (values: AuditValues | null) => valueText(values?.[key], formatInstant);
    const texts = { before: textOf(before), after: textOf(after) };
    return { name: inWords(key), ...texts, isChanged: texts.before !== texts.after };
  });
}

const SHOWN_FIELDS = 3;
const SHOWN_LENGTH = 40;

/** 'portion 0.1 → 0.2, exchange Bitget → Bybit'; empty when there is nothing to tell. */
export function changeSummary(
  entry: Pick<AuditEntry, 'before' | 'after'>,
  formatInstant: FormatInstant,
): string {
  const fields = fieldsOf(entry, formatInstant);
  const changed = fields.filter(({ isChanged }) => isChanged);
  const told = changed.length > 0 ? changed : fields;
  const more = told.length - SHOWN_FIELDS;
  const texts = told.slice(0, SHOWN_FIELDS).map((field) => `${field.name} ${valuesText(field, entry)}`);
  return `${texts.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The one value of what was created or deleted, else both. */
function valuesText(field: ChangedField, { before, after }: Pick<AuditEntry, 'before' | 'after'>): string {
  const [from, to] = [truncate(field.before, SHOWN_LENGTH), truncate(field.after, SHOWN_LENGTH)];
  if (before === null || !field.isChanged) return to;
  return after === null ? from : `${from} → ${to}`;
}

/** 'investmentPortion' becomes 'investment portion'; abbreviations such as 'API' stay. */
const inWords = (key: string): string =>
  key
    .replaceAll('_', ' ')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/\b[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase());

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function valueText(value: AuditValues[string] | undefined, formatInstant: FormatInstant): string {
  if (value === null || value === undefined || value === '') return NOTHING;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' && INSTANT.test(value)) return formatInstant(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
