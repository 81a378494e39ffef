const STORAGE_KEY = 'single-key-shortcuts';

/** Somebody who speaks to the computer, or whose hand slips, must be able to switch them off (WCAG 2.1.4). */
export function areSingleKeysOn(): boolean {
  try {
    return window.localStorage.getItem(STORAGE_KEY) !== 'off';
  } catch {
    return true;
  }
}

export function switchSingleKeys(on: boolean): void {
  try {
    window.localStorage.setItem(STORAGE_KEY, on ? 'on' : 'off');
  } catch {
    // Without a storage they stay as they are.
  }
}
