import { wrong } from './parameters.ts';

/*
 * Bybit's cursors name the last row of a page and arrive percent-encoded, to be sent back as they are. A page of orders
 * or fills has one even when it is the last: the end is the page that is empty.
 */

export const cursorAfter = (id: bigint | null, at: Date) => `${id ?? 0n}%3A${at.getTime()}`;

/** The row that a cursor names; null without one. */
export function idInCursor(cursor: string | undefined): bigint | null {
  if (cursor === undefined || cursor === '') return null;
  const [, id] = /^(\d{1,19})(?::|%3A)\d+$/i.exec(cursor) ?? [];
  if (id === undefined) throw wrong('params error: cursor invalid');
  return BigInt(id);
}

/** A page of rows that are at hand, the first ones first. */
export function pageOf<T>(
  rows: readonly T[],
  { limit, cursor }: { limit: number; cursor: string | undefined },
): { page: T[]; nextPageCursor: string } {
  const start = Number(idInCursor(cursor) ?? 0n);
  const page = rows.slice(start, start + limit);
  const next = start + page.length;
  return { page, nextPageCursor: next < rows.length ? cursorAfter(BigInt(next), new Date(0)) : '' };
}
