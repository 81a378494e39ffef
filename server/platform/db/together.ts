type Statements = readonly (Promise<unknown> | undefined)[];

/**
 * Awaits statements of a transaction that are sent together, in one round trip. The database runs them in order, and
 * the statements after a failed one fail as well. Each must have begun: `tx.insert(…).execute()`. A statement that
 * Drizzle has only built begins when it is awaited, after the later ones.
 */
export function together<const All extends Statements>(
  ...statements: All
): Promise<{ -readonly [Index in keyof All]: Awaited<All[Index]> }> {
  // Drizzle's own classes can be awaited but are not promises.
  const isBegun = statements.every((one) => one === undefined || one instanceof Promise);
  if (!isBegun) throw new Error('A statement was not begun: .execute() is missing');
  return Promise.all(statements) as never;
}
