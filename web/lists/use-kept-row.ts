import { useState } from 'react';

/** The row of the open dialog. Kept because new rows may push it off the page, which must not close the dialog. */
export function useKeptRow<Row extends { id: string }>(
  rows: readonly Row[] | undefined,
  id: string | undefined,
): Row | undefined {
  const [kept, setKept] = useState<Row>();
  const found = id === undefined ? undefined : rows?.find((row) => row.id === id);
  if (found !== undefined && found !== kept) setKept(found);
  return found ?? (kept?.id === id ? kept : undefined);
}
