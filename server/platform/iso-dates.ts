type IsoDates<Row> = {
  [Field in keyof Row]: Date extends Row[Field] ? string | Exclude<Row[Field], Date> : Row[Field];
};

/** A row with its dates as ISO texts, as they are answered. */
export const isoDates = <Row extends object>(row: Row): IsoDates<Row> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  ) as IsoDates<Row>;
