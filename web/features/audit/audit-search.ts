import { instant, page, searchReader, text } from '../../lib/search-reader.ts';

export const parseAuditSearch = searchReader({
  page,
  actor: text,
  action: text,
  subject: text,
  from: instant,
  to: instant,
  /** The entry with its dialog open. */
  entry: text,
});

export type AuditSearch = ReturnType<typeof parseAuditSearch>;
