import { createStore } from '../../lib/store.ts';
import { readChoice, storeChoice } from '../../lib/stored-choice.ts';

/* What the operator has chosen for the look of all screens, remembered in the browser. */

const RAIL = 'sidebar-rail';
const DENSITY = 'row-density';

/** Whether a wide screen shows the rail instead of the sidebar; narrower ones always do. */
export const railChoice = createStore(readChoice(RAIL) === 'on');

export function chooseRail(on: boolean): void {
  storeChoice(RAIL, on ? 'on' : 'off');
  railChoice.set(on);
}

export const denseRows = createStore(readChoice(DENSITY) === 'dense');

export function chooseDenseRows(on: boolean): void {
  storeChoice(DENSITY, on ? 'dense' : 'normal');
  denseRows.set(on);
}
