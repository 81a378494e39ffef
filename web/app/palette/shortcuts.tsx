import { lazy, Suspense, useEffect } from 'react';
import { shownOverlay, showOverlay, useOverlay } from './palette-state.ts';
import { focusFirstFilter, readShortcut, type Shortcut, turnPage } from './read-shortcut.ts';
import { areSingleKeysOn } from './single-keys.ts';

const CommandPalette = lazy(() => import('./command-palette.tsx'));
const ShortcutHelp = lazy(() => import('./shortcut-help.tsx'));

/** The keys of the whole program, and what they open. Mounted once, inside the router. */
export function Shortcuts() {
  const overlay = useOverlay();
  useEffect(() => {
    document.addEventListener('keydown', handleKey);
    return () => {
      document.removeEventListener('keydown', handleKey);
      showOverlay(null);
    };
  }, []);
  const close = () => showOverlay(null);
  return (
    <Suspense fallback={null}>
      {overlay === 'palette' ? <CommandPalette onClose={close} /> : null}
      {overlay === 'shortcuts' ? <ShortcutHelp onClose={close} /> : null}
    </Suspense>
  );
}

const ACTIONS: Record<Shortcut, () => boolean> = {
  palette: () => {
    // In a dialog the key does nothing, rather than go to the browser's own search.
    if (shownOverlay() === 'palette') showOverlay(null);
    else if (document.querySelector('[role="dialog"]') === null) showOverlay('palette');
    return true;
  },
  filters: () => focusFirstFilter(document),
  help: () => {
    showOverlay('shortcuts');
    return true;
  },
  'previous page': () => turnPage(document, 'previous'),
  'next page': () => turnPage(document, 'next'),
};

function handleKey(event: KeyboardEvent) {
  if (event.defaultPrevented) return;
  const { key, ctrlKey, metaKey, altKey, shiftKey, repeat, isComposing } = event;
  const target = event.target instanceof Element ? event.target : null;
  const shortcut = readShortcut(
    { key, ctrlKey, metaKey, altKey, shiftKey, repeat, isComposing, target },
    document,
    { singleKeys: areSingleKeysOn() },
  );
  if (shortcut !== null && ACTIONS[shortcut]()) event.preventDefault();
}
