import { lazy, Suspense, useEffect } from 'react';
import { areSingleKeysOn, overlay } from './palette-state.ts';

const CommandPalette = lazy(() => import('./command-palette.tsx'));
const ShortcutHelp = lazy(() => import('./shortcut-help.tsx'));

/** The keys of the whole program, and what they open. Mounted once, inside the router. */
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

type Shortcut = 'palette' | 'filters' | 'help' | 'previous page' | 'next page';

/** Elements that take typing, and elements that use the arrow keys themselves. */
const TYPING = 'input, select, textarea, [contenteditable="true"]';
const OWN_ARROWS =
  '[role="tablist"], [role="listbox"], [role="radiogroup"], [role="slider"], [role="grid"], [role="tree"]';
const IN_THE_WAY = '[role="dialog"], [role="menu"]';

const SINGLE_KEYS: Readonly<Record<string, Shortcut>> = {
  '/': 'filters',
  '?': 'help',
  ArrowLeft: 'previous page',
  ArrowRight: 'next page',
};

/** The shortcut of a key on the page as it is; null for other keys. */
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
  // A held arrow would rush through the pages.
  if (event.repeat || event.shiftKey || target?.closest(OWN_ARROWS)) return null;
  return scrollsSideways(target) ? null : shortcut;
}

/** A table that is wider than its region is scrolled by the arrows as long as the focus is in it. */
function scrollsSideways(target: Element | null): boolean {
  const region = target?.closest('[data-scroll-region]');
  return region !== null && region !== undefined && region.scrollWidth > region.clientWidth;
}

/** Moves the focus to the first filter of the screen; false when there is none. */
function focusFirstFilter(): boolean {
  const filter = document.querySelector<HTMLElement>(
    'main :is([data-filter] :is(input, select), :is(input, select)[data-filter])',
  );
  filter?.focus();
  return filter !== null;
}

/** Presses the button of the screen's pager; false when there is no such page. */
function turnPage(step: 'previous' | 'next'): boolean {
  const button = document.querySelector<HTMLButtonElement>(`main [data-page-step="${step}"]:not(:disabled)`);
  button?.click();
  return button !== null;
}

const ACTIONS: Record<Shortcut, () => boolean> = {
  palette: () => {
    // In a dialog the key does nothing, rather than go to the browser's own search.
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
};

function handleKey(event: KeyboardEvent) {
  if (event.defaultPrevented) return;
  const shortcut = readShortcut(event);
  if (shortcut !== null && ACTIONS[shortcut]()) event.preventDefault();
}
