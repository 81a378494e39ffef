import { getTableColumns, type InferSelectModel, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/** A row with every column as text, as the database writes it: in JSON a number would lose digits. */
export type Texts = Record<string, string | null>;

/** The rows of a table as one JSON value, so that those of several tables come in one statement. */
export const listTexts = (table: PgTable, where: SQL | undefined): SQL => sql`(
  select coalesce(json_agg((select json_object_agg(key, value) from jsonb_each_text(to_jsonb(${table})))), '[]')
  from ${table} where ${where})`;

/** The row as a query of the table would give it. */
export function rowOfTexts<Table extends PgTable>(table: Table, texts: Texts): InferSelectModel<Table> {
  const row: Record<string, unknown> = {};
  for (const [property, column] of Object.entries(getTableColumns(table))) {
    const text = texts[column.name] ?? null;
    if (text === null) row[property] = null;
    else row[property] = column.dataType === 'boolean' ? text === 'true' : column.mapFromDriverValue(text);
  }
  return row as InferSelectModel<Table>;
}
