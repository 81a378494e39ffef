import { withMinus } from '../../lib/figures.ts';
import { formatCount } from '../../lib/format.ts';

/** '+0.24 R'; a dash for null. */
export function formatR(r: string | null): string {
  if (r === null) return '–';
  const text = Number(r).toFixed(2);
  if (Number(text) === 0) return '0.00 R';
  return withMinus(`${Number(text) > 0 ? '+' : ''}${text} R`);
}

/** '40 s', '12 m', '3 h 05 m', '2 d 4 h'; a dash for null. */
export function formatHolding(minutes: string | null): string {
  if (minutes === null) return '–';
  const total = Math.round(Number(minutes));
  if (total < 1) return `${Math.round(Number(minutes) * 60)} s`;
  const [days, hours, rest] = [Math.floor(total / 1_440), Math.floor(total / 60) % 24, total % 60];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${String(rest).padStart(2, '0')} m` : `${rest} m`;
}

/** '94.1%'; a dash for null. */
export const formatPercent = (percent: string | null): string =>
  percent === null ? '–' : `${Number(percent).toFixed(1)}%`;

/** '159 of 169 orders' */
export const filledOf = ({ orders, filled }: { orders: number; filled: number }): string =>
  `${formatCount(filled)} of ${formatCount(orders)} ${orders === 1 ? 'order' : 'orders'}`;
