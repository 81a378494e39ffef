import { useState } from 'react';

const KEY = 'users-include-inactive';

/** Whether the list shows inactive users too: all users at first, then what this browser was last set to. */
export function useIncludeInactive(): [boolean, (include: boolean) => void] {
  const [included, setIncluded] = useState(readStored);
  return [
    included,
    (include) => {
      setIncluded(include);
      try {
        window.localStorage.setItem(KEY, String(include));
      } catch {
        // A full or forbidden storage: the choice then lasts as long as the screen.
      }
    },
  ];
}

function readStored(): boolean {
  try {
    return window.localStorage.getItem(KEY) !== 'false';
  } catch {
    return true;
  }
}
