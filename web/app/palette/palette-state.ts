import { createStore } from '../../lib/store.ts';
import { readChoice, storeChoice } from '../../lib/stored-choice.ts';

/** Opened from the header, from a key or from the palette itself, and shown in one place. */
export const overlay = createStore<'palette' | 'shortcuts' | null>(null);

const isApple = () => /Mac|iPhone|iPad/.test(navigator.platform);

/** The name of the palette's key on this system, for people and for screen readers. */
export const paletteKey = () =>
  isApple() ? { text: '⌘ K', aria: 'Meta+K' } : { text: 'Ctrl K', aria: 'Control+K' };

const SINGLE_KEYS = 'single-key-shortcuts';

/** Speech input or a hand that slips can trigger them, so they can be switched off (WCAG 2.1.4). */
export const areSingleKeysOn = (): boolean => readChoice(SINGLE_KEYS) !== 'off';

export const switchSingleKeys = (on: boolean): void => storeChoice(SINGLE_KEYS, on ? 'on' : 'off');
