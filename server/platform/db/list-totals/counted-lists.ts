import { type SQL, sql } from 'drizzle-orm';

/** Lists with kept totals: rows are only added, and no counted column changes but the status of a running workflow. */
export const COUNTED_LISTS = ['signals', 'price-logs', 'workflows'] as const;
export type CountedList = (typeof COUNTED_LISTS)[number];

/** All filter columns, which are also the columns of the tables of totals. */
export const DIMENSIONS = ['token', 'action', 'processor', 'timeframe', 'status'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Selects the rows with these values, or with one of several. */
export type ListFilter = { [Name in Dimension]?: string | readonly string[] | undefined };

export interface ListShape {
  table: SQL;
  receivedAt: SQL;
  dimensions: readonly Dimension[];
  /** Rows whose counted columns may still change; null if there are none. */
  unsettled: SQL | null;
  /** Totals are also kept by quarters of an hour. */
  byQuarter: boolean;
}

export const LIST_SHAPES: Record<CountedList, ListShape> = {
  signals: {
    table: sql`signals`,
    receivedAt: sql`received_at`,
    dimensions: ['token', 'action', 'processor', 'timeframe'],
    unsettled: null,
    byQuarter: true,
  },
  'price-logs': {
    table: sql`price_logs`,
    receivedAt: sql`received_at`,
    dimensions: ['token', 'processor', 'timeframe'],
    unsettled: null,
    byQuarter: false,
  },
  workflows: {
    table: sql`workflows`,
    receivedAt: sql`created_at`,
    dimensions: ['processor', 'status'],
    // Must match the wording of the partial index.
    unsettled: sql`status in ('pending', 'processing')`,
    byQuarter: false,
  },
};

/** Lists whose values are offered as filters; a workflow's processor is its signal's. */
export const CHOICE_LISTS = ['signals', 'price-logs'] as const satisfies readonly CountedList[];
export type ChoiceList = (typeof CHOICE_LISTS)[number];
export const CHOICE_COLUMNS = ['token', 'processor', 'timeframe'] as const satisfies readonly Dimension[];
export type ChoiceColumn = (typeof CHOICE_COLUMNS)[number];

/** The audience of administrators' choices in list_choices, which are offered to everybody. */
export const ADMINISTRATORS = '00000000-0000-0000-0000-000000000000';

/** Totals and choices each have their own mark in counted_lists. */
export type Part = 'totals' | 'choices';
export const ADDED_UP: readonly { list: CountedList; what: Part }[] = [
  ...COUNTED_LISTS.map((list) => ({ list, what: 'totals' as const })),
  ...CHOICE_LISTS.map((list) => ({ list, what: 'choices' as const })),
];
export const markOf = (list: CountedList, part: Part): string =>
  part === 'totals' ? list : `${list} choices`;

/** Sorts before every row. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export const dimension = (name: Dimension): SQL => sql`${sql.identifier(name)}`;

const allOf = (conditions: readonly (SQL | undefined)[]): SQL => {
  const given = conditions.filter((one): one is SQL => one !== undefined);
  return given.length === 0 ? sql`true` : sql.join(given, sql` and `);
};

/** The same SQL fits the rows of a list and those of its totals. */
export function matching(filter: ListFilter): SQL {
  return allOf(
    DIMENSIONS.map((name) => {
      const wanted = filter[name];
      if (wanted === undefined) return undefined;
      return typeof wanted === 'string'
        ? sql`${dimension(name)} = ${wanted}`
        : sql`${dimension(name)} = any(${sql.param([...wanted])}::text[])`;
    }),
  );
}

/** The counted columns of a row; '' for columns that the list does not have. */
export const groupColumns = ({ dimensions }: ListShape): SQL =>
  sql.join(
    DIMENSIONS.map((name) =>
      dimensions.includes(name)
        ? sql`coalesce(${dimension(name)}, '') as ${dimension(name)}`
        : sql`'' as ${dimension(name)}`,
    ),
    sql`, `,
  );
