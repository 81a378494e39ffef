/* Choices stored in the browser. Full or forbidden storage throws; the choice then lasts as long as the screen. */

export function readChoice(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function storeChoice(key: string, choice: string): void {
  try {
    window.localStorage.setItem(key, choice);
  } catch {
    // The choice still applies; it is just not remembered.
  }
}
