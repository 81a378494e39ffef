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
