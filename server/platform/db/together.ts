type Statements = readonly (Promise<unknown> | undefined)[];

/**
 * Awaits statements of a transaction that go out together, in one round trip. The database runs them in their order, and
 * those after one that failed fail as well. Each must have begun: `tx.insert(…).execute()`. What Drizzle has merely built
 * begins when it is awaited, after those behind it.
 */
export function together<const All extends Statements>(
  ...statements: All
): Promise<{ -readonly [Index in keyof All]: Awaited<All[Index]> }> {
  // Drizzle's own classes can be awaited, but are no promises.
  const isBegun = statements.every((one) => one === undefined || one instanceof Promise);
  if (!isBegun) throw new Error('A statement was not begun: .execute() is missing');
  return Promise.all(statements) as never;
}
