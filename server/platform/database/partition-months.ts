/** A month of UTC, by its first instant. */
export function monthOf(moment: Date, plusMonths = 0): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + plusMonths, 1));
}

/** Before every time-ordered id of this moment and later ones, and after every earlier one. */
export function boundOf(moment: Date): string {
  const digits = moment.getTime().toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

/** As partitions are named: 2026_11. */
export const monthName = (month: Date): string =>
  `${month.getUTCFullYear()}_${String(month.getUTCMonth() + 1).padStart(2, '0')}`;
