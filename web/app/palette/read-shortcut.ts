export type Shortcut = 'palette' | 'filters' | 'help' | 'previous page' | 'next page';

/** Where typing goes, and what has a use of its own for the arrow keys. */
const TYPING = 'input, select, textarea, [contenteditable="true"]';
const OWN_ARROWS =
  '[role="tablist"], [role="listbox"], [role="radiogroup"], [role="slider"], [role="grid"], [role="tree"]';
const IN_THE_WAY = '[role="dialog"], [role="menu"]';

interface KeyPress
  extends Pick<
    KeyboardEvent,
    'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'repeat' | 'isComposing'
  > {
  target: Element | null;
}

const SINGLE_KEYS: Readonly<Record<string, Shortcut>> = {
  '/': 'filters',
  '?': 'help',
  ArrowLeft: 'previous page',
  ArrowRight: 'next page',
};

/** What a key means on the page as it stands; null when it means nothing to us. */
export function readShortcut(
  press: KeyPress,
  page: ParentNode,
  options: { singleKeys: boolean },
): Shortcut | null {
  if (press.isComposing || press.altKey) return null;
  if (press.ctrlKey || press.metaKey) {
    return press.key.toLowerCase() === 'k' && !press.shiftKey ? 'palette' : null;
  }
  const shortcut = SINGLE_KEYS[press.key];
  if (shortcut === undefined || !options.singleKeys) return null;
  if (press.target?.closest(TYPING) || page.querySelector(IN_THE_WAY)) return null;
  if (shortcut !== 'previous page' && shortcut !== 'next page') return shortcut;
  // A held arrow would rush through the pages.
  if (press.repeat || press.shiftKey || press.target?.closest(OWN_ARROWS)) return null;
  return scrollsSideways(press.target) ? null : shortcut;
}

/** A table that is wider than its region is scrolled by the arrows as long as the focus is in it. */
function scrollsSideways(target: Element | null): boolean {
  const region = target?.closest('[data-scroll-region]');
  return region !== null && region !== undefined && region.scrollWidth > region.clientWidth;
}

/** Moves the focus to the first filter of the screen; false when there is none. */
export function focusFirstFilter(page: ParentNode): boolean {
  const filter = page.querySelector<HTMLElement>(
    'main :is([data-filter] :is(input, select), :is(input, select)[data-filter])',
  );
  filter?.focus();
  return filter !== null;
}

/** Presses the button of the screen's pager; false when there is no such page. */
export function turnPage(page: ParentNode, step: 'previous' | 'next'): boolean {
  const button = page.querySelector<HTMLButtonElement>(`main [data-page-step="${step}"]:not(:disabled)`);
  button?.click();
  return button !== null;
}
