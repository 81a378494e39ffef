import { Decimal as DecimalJs } from 'decimal.js';
import { getTableColumns, type InferSelectModel, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';

/* Rows of the books: numbers are Decimals in the books and plain text in rows. */

type NumericOf<Table extends PgTable> = {
  [Name in keyof Table['_']['columns']]: Table['_']['columns'][Name]['_']['columnType'] extends 'PgNumeric'
    ? Name
    : never;
}[keyof Table['_']['columns']];

/** A row of the table with its numbers as Decimals. */
export type RowOf<Table extends PgTable> = {
  [Name in keyof InferSelectModel<Table>]: Name extends NumericOf<Table>
    ? Decimal | Extract<InferSelectModel<Table>[Name], null>
    : InferSelectModel<Table>[Name];
};

type Storable<Row> = {
  [Name in keyof Row]: Row[Name] extends Decimal | null ? string | Extract<Row[Name], null> : Row[Name];
};

/** Every column as text, as the database writes it: a JSON number would lose digits. */
export type Texts = (string | null)[];

/** The rows of a table as one JSON value, so that one statement reads several tables. */
export function listTexts(table: PgTable, where: SQL | undefined): SQL {
  const columns = Object.values(getTableColumns(table)).map((column) => sql`${column}::text`);
  return sql`(
    select coalesce(json_agg(json_build_array(${sql.join(columns, sql`, `)})), '[]') from ${table} where ${where})`;
}

export function rowOfTexts<Table extends PgTable>(table: Table, texts: Texts): RowOf<Table> {
  const columns = Object.entries(getTableColumns(table));
  const row = columns.map(([name, column], index) => [name, valueOfText(column, texts[index] ?? null)]);
  return Object.fromEntries(row) as RowOf<Table>;
}

function valueOfText(column: PgColumn, text: string | null): unknown {
  if (text === null) return null;
  if (column.columnType === 'PgNumeric') return D(text);
  return column.dataType === 'boolean' ? text === 'true' : column.mapFromDriverValue(text);
}

export function rowOfSelected<Table extends PgTable>(
  table: Table,
  selected: InferSelectModel<Table>,
): RowOf<Table> {
  const columns: Record<string, PgColumn> = getTableColumns(table);
  const row = Object.entries(selected).map(([name, value]) => {
    const isNumber = columns[name]?.columnType === 'PgNumeric' && value !== null;
    return [name, isNumber ? D(String(value)) : value];
  });
  return Object.fromEntries(row) as RowOf<Table>;
}

export function storable<Row extends object>(row: Row): Storable<Row> {
  const values = Object.entries(row).map(([name, value]: [string, unknown]) => [
    name,
    DecimalJs.isDecimal(value) ? toPlain(value) : value,
  ]);
  return Object.fromEntries(values) as Storable<Row>;
}

/** Drops the owner and token columns: the book already says whose the rows are. */
export function unowned<Row extends { userId: string; platform: string; token: string }>(
  row: Row,
): Omit<Row, 'userId' | 'platform' | 'token'> {
  const { userId: _userId, platform: _platform, token: _token, ...rest } = row;
  return rest;
}
