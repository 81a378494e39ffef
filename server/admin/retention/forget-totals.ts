import { forgetRows } from '#server/platform/db/list-totals/forget-rows.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import type { BeforeDrop } from './drop-old-partitions.ts';

/** The totals of lists count what is kept. */
export const forgetTotals: BeforeDrop = async (tx, { table, from, to }) => {
  if (table !== 'price_logs') return;
  await forgetRows(tx, 'price-logs', { from: firstIdOf(from ?? new Date(0)), to: firstIdOf(to) });
};
