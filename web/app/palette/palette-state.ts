import { createStore } from '../../lib/store.ts';
import { readChoice, storeChoice } from '../../lib/stored-choice.ts';

/** The overlay that is open; the header, a key or the palette itself opens it. */
export const overlay = createStore<'palette' | 'shortcuts' | null>(null);

const isApple = () => /Mac|iPhone|iPad/.test(navigator.platform);

/** The palette's shortcut on this system, as display text and as `aria-keyshortcuts`. */
export const paletteKey = () =>
  isApple() ? { text: '⌘ K', aria: 'Meta+K' } : { text: 'Ctrl K', aria: 'Control+K' };

const SINGLE_KEYS = 'single-key-shortcuts';

/** Single keys can be switched off because speech input or a slip can trigger them (WCAG 2.1.4). */
export const areSingleKeysOn = (): boolean => readChoice(SINGLE_KEYS) !== 'off';

export const switchSingleKeys = (on: boolean): void => storeChoice(SINGLE_KEYS, on ? 'on' : 'off');
