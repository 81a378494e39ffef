import type { TimeRange } from './count-list.ts';

/** The parameters of a list by time, as a request names them. */
export interface TimeFilter {
  /** Only rows received up to this instant, so that new arrivals do not shift the pages. */
  until?: Date | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  order?: 'asc' | 'desc' | undefined;
}

/** The range and order that both ends of a request ask for. */
export function timeRange({
  until,
  from,
  to,
  order = 'desc',
}: TimeFilter): TimeRange & { order: 'asc' | 'desc' } {
  const ends = [until, to].filter((end) => end !== undefined);
  const last = ends.length === 0 ? undefined : new Date(Math.min(...ends.map(Number)));
  return { from, until: last, order };
}
