import type { MouseEvent } from 'react';

/** A row opens a panel about it: anywhere outside its buttons and links. */
export interface RowPanel<Row> {
  /** The id of the row whose panel is open. */
  opened: string | undefined;
  onOpen: (row: Row) => void;
}

/** Not a click on a control, nor the end of a selection of text. */
export function isOnRow({ target }: MouseEvent): boolean {
  const isControl = target instanceof Element && target.closest('button, a, input, select') !== null;
  return !isControl && String(window.getSelection() ?? '') === '';
}

/** Where cards replace a table, and a panel fills the window. */
export const PHONE = '(max-width: 48em)';
/** Media queries answer at the first render. */
export const AT_ONCE = { getInitialValueInEffect: false };
