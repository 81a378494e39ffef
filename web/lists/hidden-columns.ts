import { useState } from 'react';

const storageKey = (table: string) => `hidden-columns:${table}`;

/** A function, because browsers that forbid storage throw on access to `localStorage` itself. */
type OpenStorage<Use extends keyof Storage> = () => Pick<Storage, Use>;

/** A table's stored column ids; empty unless the stored value is a list of ids. */
export function readHiddenColumns(open: OpenStorage<'getItem'>, table: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(open().getItem(storageKey(table)) ?? '[]');
    return Array.isArray(stored) && stored.every((id) => typeof id === 'string') ? stored : [];
  } catch {
    return [];
  }
}

export function writeHiddenColumns(
  open: OpenStorage<'setItem'>,
  table: string,
  hidden: readonly string[],
): void {
  try {
    open().setItem(storageKey(table), JSON.stringify(hidden));
  } catch {
    // With full or forbidden storage, the choice lasts as long as the page.
  }
}

const browserStorage = () => window.localStorage;

/** Ids of a table's hidden columns. The first column names the row and always stays. */
export function useHiddenColumns(table: string): [readonly string[], (hidden: readonly string[]) => void] {
  const [hidden, setHidden] = useState(() => readHiddenColumns(browserStorage, table));
  return [
    hidden,
    (next) => {
      setHidden(next);
      writeHiddenColumns(browserStorage, table, next);
    },
  ];
}

export const isHidden = (hidden: readonly string[], columnId: string | undefined, index: number): boolean =>
  index > 0 && columnId !== undefined && hidden.includes(columnId);
