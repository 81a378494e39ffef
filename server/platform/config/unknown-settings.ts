import { settings } from './config-settings.ts';

/** In a shorter name, one other letter is a common variable of other programs: HOME and HOST. */
const LONG_NAME = 9;

/**
 * One line about names that look like settings and are none; null when there are none. The `.env` file may hold variables
 * of others, such as compose.yaml's, and an environment does: only names close to a known one are mentioned.
 */
export function unknownSettings(names: readonly string[]): string | null {
  const found = names.flatMap((name) => {
    const known = nearestSetting(name);
    return known === null ? [] : [`${JSON.stringify(name)} is no setting: did you mean ${known}?`];
  });
  return found.length === 0 ? null : found.join(' ');
}

function nearestSetting(name: string): string | null {
  if (settings.some((one) => one.name === name)) return null;
  const close = settings
    .map(({ name: known }) => ({ known, distance: distanceOf(plain(name), plain(known)) }))
    .filter(({ known, distance }) => distance <= allowedDistance(name, known))
    .toSorted((one, other) => one.distance - other.distance);
  return close[0]?.known ?? null;
}

const plain = (name: string) => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');

/** Letters that may differ between a name that was mistyped and the known one. */
function allowedDistance(name: string, known: string): number {
  // Names of one word, such as host and port, belong to everybody.
  if (!known.includes('_')) return -1;
  const length = plain(known).length;
  if (length < LONG_NAME - 2) return 0;
  if (length >= LONG_NAME && plain(name).startsWith(plain(known).slice(0, -1))) return 3;
  return Math.min(3, Math.floor(length / 4));
}

/** Levenshtein's distance: letters to add, remove or replace. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, wanted] of [...other].entries()) {
      const replaced = (row[at] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
