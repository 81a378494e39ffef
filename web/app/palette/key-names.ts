const isApple = () => /Mac|iPhone|iPad/.test(navigator.platform);

/** How the palette's key is called on this machine, for people and for screen readers. */
export const paletteKey = () =>
  isApple() ? { text: '⌘ K', aria: 'Meta+K' } : { text: 'Ctrl K', aria: 'Control+K' };
