import { getTableColumns, type InferSelectModel, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/** A row with every column as text, as the database writes it: in JSON a number would lose digits. */
export type Texts = (string | null)[];

/** The rows of a table as one JSON value, so that those of several tables come in one statement. */
export function listTexts(table: PgTable, where: SQL | undefined): SQL {
  const columns = Object.values(getTableColumns(table)).map((column) => sql`${column}::text`);
  return sql`(
    select coalesce(json_agg(json_build_array(${sql.join(columns, sql`, `)})), '[]') from ${table} where ${where})`;
}

/** The row as a query of the table would give it. */
export function rowOfTexts<Table extends PgTable>(table: Table, texts: Texts): InferSelectModel<Table> {
  const row: Record<string, unknown> = {};
  Object.entries(getTableColumns(table)).forEach(([property, column], index) => {
    const text = texts[index] ?? null;
    if (text === null) row[property] = null;
    else row[property] = column.dataType === 'boolean' ? text === 'true' : column.mapFromDriverValue(text);
  });
  return row as InferSelectModel<Table>;
}
