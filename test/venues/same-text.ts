import { timingSafeEqual } from 'node:crypto';

/** Compares secrets in a time that tells nothing of where they differ. */
export function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
