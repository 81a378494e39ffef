import { useState } from 'react';
import type { PriceLog } from '#contract/price-logs.ts';

/** The row whose dialog is open. New rows may push it off the page; its dialog does not vanish with it. */
export function useKeptLog(
  rows: readonly PriceLog[] | undefined,
  id: string | undefined,
): PriceLog | undefined {
  const [kept, setKept] = useState<PriceLog>();
  const found = id === undefined ? undefined : rows?.find((log) => log.id === id);
  if (found !== undefined && found !== kept) setKept(found);
  return found ?? (kept?.id === id ? kept : undefined);
}
