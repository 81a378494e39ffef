/* Choices that a browser remembers. A full or forbidden storage throws: the choice then lasts as long as the screen. */

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
    // Nothing is lost but the memory.
  }
}
