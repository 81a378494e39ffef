import { lazy, Suspense, useEffect } from 'react';
import { areSingleKeysOn, overlay } from './palette-state.ts';

const CommandPalette = lazy(() => import('./command-palette.tsx'));
const ShortcutHelp = lazy(() => import('./shortcut-help.tsx'));

/** The global shortcuts and the overlays they open. Mounted once, inside the router. */
export function Shortcuts() {
  const shown = overlay.use();
  useEffect(() => {
    document.addEventListener('keydown', handleKey);
    return () => {
      document.removeEventListener('keydown', handleKey);
      overlay.set(null);
    };
  }, []);
  const close = () => overlay.set(null);
  return (
    <Suspense fallback={null}>
      {shown === 'palette' ? <CommandPalette onClose={close} /> : null}
      {shown === 'shortcuts' ? <ShortcutHelp onClose={close} /> : null}
    </Suspense>
  );
}

type Shortcut = 'palette' | 'filters' | 'help' | 'previous page' | 'next page' | 'previous row' | 'next row';

/** Elements that take text input, and elements that handle arrow keys themselves. */
const TYPING = 'input, select, textarea, [contenteditable="true"]';
const OWN_ARROWS =
  '[role="tablist"], [role="listbox"], [role="radiogroup"], [role="slider"], [role="grid"], [role="tree"]';
const IN_THE_WAY = '[role="dialog"]:not([data-row-panel]), [role="menu"]';

const SINGLE_KEYS: Readonly<Record<string, Shortcut>> = {
  '/': 'filters',
  '?': 'help',
  ArrowLeft: 'previous page',
  ArrowRight: 'next page',
  j: 'next row',
  k: 'previous row',
};

/** The shortcut that a key triggers on the current page; null for other keys. */
function readShortcut(event: KeyboardEvent): Shortcut | null {
  const target = event.target instanceof Element ? event.target : null;
  if (event.isComposing || event.altKey) return null;
  if (event.ctrlKey || event.metaKey) {
    return event.key.toLowerCase() === 'k' && !event.shiftKey ? 'palette' : null;
  }
  const shortcut = SINGLE_KEYS[event.key];
  if (shortcut === undefined || !areSingleKeysOn()) return null;
  if (target?.closest(TYPING) || document.querySelector(IN_THE_WAY)) return null;
  if (shortcut !== 'previous page' && shortcut !== 'next page') return shortcut;
  // Ignore key repeat: a held arrow would race through the pages.
  if (event.repeat || event.shiftKey || target?.closest(OWN_ARROWS)) return null;
  return scrollsSideways(target) ? null : shortcut;
}

/** Whether the focus is in a table wider than its region, where arrows scroll. */
function scrollsSideways(target: Element | null): boolean {
  const region = target?.closest('[data-scroll-region]');
  return region !== null && region !== undefined && region.scrollWidth > region.clientWidth;
}

/** Focuses the screen's first filter; returns false when there is none. */
function focusFirstFilter(): boolean {
  const filter = document.querySelector<HTMLElement>(
    'main :is([data-filter] :is(input, select), :is(input, select)[data-filter])',
  );
  filter?.focus();
  return filter !== null;
}

/** Presses a button of the screen's pager; returns false when there is no such page. */
function turnPage(step: 'previous' | 'next'): boolean {
  const button = document.querySelector<HTMLButtonElement>(`main [data-page-step="${step}"]:not(:disabled)`);
  button?.click();
  return button !== null;
}

/** Goes to a neighbour in the open side panel, or opens that of the first row; returns false where there is none. */
function walkRows(step: 'previous' | 'next'): boolean {
  const isOpen = document.querySelector('[data-row-step]') !== null;
  const first = isOpen || step === 'previous' ? null : 'main [data-row-open]';
  const button = document.querySelector<HTMLButtonElement>(
    first ?? `[data-row-step="${step}"]:not(:disabled)`,
  );
  button?.click();
  return button !== null;
}

const ACTIONS: Record<Shortcut, () => boolean> = {
  palette: () => {
    // In a dialog the key does nothing, but it must not open the browser's own search.
    if (overlay.get() === 'palette') overlay.set(null);
    else if (document.querySelector('[role="dialog"]') === null) overlay.set('palette');
    return true;
  },
  filters: focusFirstFilter,
  help: () => {
    overlay.set('shortcuts');
    return true;
  },
  'previous page': () => turnPage('previous'),
  'next page': () => turnPage('next'),
  'previous row': () => walkRows('previous'),
  'next row': () => walkRows('next'),
};

function handleKey(event: KeyboardEvent) {
  if (event.defaultPrevented) return;
  const shortcut = readShortcut(event);
  if (shortcut !== null && ACTIONS[shortcut]()) event.preventDefault();
}
