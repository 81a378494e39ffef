/** A month of UTC, by its first instant. */
export function monthOf(moment: Date, plusMonths = 0): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + plusMonths, 1));
}

/** As partitions are named: 2026_11. */
export const monthName = (month: Date): string =>
  `${month.getUTCFullYear()}_${String(month.getUTCMonth() + 1).padStart(2, '0')}`;
