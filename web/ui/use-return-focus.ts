import { useEffect, useState } from 'react';

/**
 * For a dialog that is mounted open and unmounted to close: the focus goes back to where it was. The library does
 * so only for one that stays mounted.
 */
export function useReturnFocus({ enabled }: { enabled: boolean }): void {
  // Taken while rendering, before the dialog moves the focus into itself.
  const [from] = useState(() => (enabled ? document.activeElement : null));
  useEffect(
    () => () => {
      // Unless the focus has already found a place, for example on another page.
      if (!(from instanceof HTMLElement) || document.activeElement !== document.body) return;
      from.focus({ preventScroll: true });
    },
    [from],
  );
}
