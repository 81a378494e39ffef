import { forgetRows } from '#server/features/list-totals/forget-rows.ts';
import { boundOf } from '#server/platform/database/partition-months.ts';
import type { BeforeDrop } from './drop-old-partitions.ts';

/** The totals of lists count what is kept. */
export const forgetTotals: BeforeDrop = async (tx, { table, from, to }) => {
  if (table !== 'price_logs') return;
  await forgetRows(tx, 'price-logs', { from: boundOf(from ?? new Date(0)), to: boundOf(to) });
};
