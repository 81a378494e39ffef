import { wrong } from './parameters.ts';

/*
 * Bybit's cursors name the last row of a page and arrive percent-encoded, to be sent back unchanged. Even the last page
 * of orders or fills has one: the list ends with an empty page.
 */

export const cursorAfter = (id: bigint | null, at: Date) => `${id ?? 0n}%3A${at.getTime()}`;

/** The row that a cursor names; null without a cursor. */
export function idInCursor(cursor: string | undefined): bigint | null {
  if (cursor === undefined || cursor === '') return null;
  const [, id] = /^(\d{1,19})(?::|%3A)\d+$/i.exec(cursor) ?? [];
  if (id === undefined) throw wrong('params error: cursor invalid');
  return BigInt(id);
}

/** One page of rows in memory, in the given order. */
export function pageOf<T>(
  rows: readonly T[],
  { limit, cursor }: { limit: number; cursor: string | undefined },
): { page: T[]; nextPageCursor: string } {
  const start = Number(idInCursor(cursor) ?? 0n);
  const page = rows.slice(start, start + limit);
  const next = start + page.length;
  return { page, nextPageCursor: next < rows.length ? cursorAfter(BigInt(next), new Date(0)) : '' };
}
