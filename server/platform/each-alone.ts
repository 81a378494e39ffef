/** Runs the steps one after the other, also after one that fails, and then throws the first failure. */
export async function eachInTurn(steps: Iterable<() => unknown>): Promise<void> {
  const failures: unknown[] = [];
  await eachAlone(
    steps,
    async (step) => await step(),
    (error) => failures.push(error),
  );
  if (failures.length > 0) throw failures[0];
}

/** Works on the items one after the other. One that fails keeps no other from its turn; `onFailure` has to say which. */
export async function eachAlone<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
  onFailure: (error: unknown, item: Item) => void,
): Promise<void> {
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      onFailure(error, item);
    }
  }
}
