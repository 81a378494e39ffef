import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';

/*
 * Many rows as one JSON value: one statement with the same text for any number of rows, which the database parses and
 * plans once for each connection.
 */

/** Rows whose id is in the list, which is one value however long it is. */
export const isOneOf = (column: PgColumn | SQL, ids: readonly string[]): SQL =>
  sql`${column} = any(${sql.param(ids)}::uuid[])`;

type Row<Table extends PgTable> = Partial<Table['$inferInsert']>;

/** The columns for which any of the rows has a value, in the order of the table. */
function usedColumns(table: PgTable, rows: readonly Record<string, unknown>[]): [string, PgColumn][] {
  return Object.entries(getTableColumns(table)).filter(([field]) =>
    rows.some((row) => row[field] !== undefined),
  );
}

function asRecord(columns: readonly [string, PgColumn][], row: Record<string, unknown>) {
  return Object.fromEntries(
    columns.flatMap(([field, column]) => (row[field] === undefined ? [] : [[column.name, row[field]]])),
  );
}

const listNames = (columns: readonly [string, PgColumn][]): SQL =>
  sql.join(
    columns.map(([, column]) => sql.identifier(column.name)),
    sql`, `,
  );

/** Inserts rows. A column that only some of the rows have is null in the others, whatever its default is. */
export function insertRows<Table extends PgTable>(
  table: Table,
  rows: readonly Table['$inferInsert'][],
  onConflict: SQL = sql``,
): SQL {
  const columns = usedColumns(table, rows);
  const names = listNames(columns);
  const records = JSON.stringify(rows.map((row) => asRecord(columns, row)));
  return sql`insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, ${records}::json) ${onConflict}`;
}

/**
 * Changes rows by their `id` and returns the ids; a column that a change does not name keeps its value. `seen`: a row
 * whose value in the column is not `seen` stays unchanged.
 */
export function updateRows<Table extends PgTable>(
  table: Table,
  changes: readonly { id: string; set: Row<Table>; seen?: string }[],
  column?: PgColumn,
): SQL {
  const columns = usedColumns(
    table,
    changes.map(({ set }) => set),
  );
  const names = listNames(columns);
  const records = JSON.stringify(
    changes.map(({ id, set, seen }) => ({ id, seen, set: asRecord(columns, set) })),
  );
  const isAsSeen = column === undefined ? sql`true` : sql`known.${sql.identifier(column.name)} = change.seen`;
  return sql`
    update ${table} as known
    set (${names}) = (select ${names} from jsonb_populate_record(known, change.set))
    from jsonb_to_recordset(${records}::jsonb) as change (id uuid, seen text, set jsonb)
    where known.id = change.id and ${isAsSeen}
    returning known.id`;
}
