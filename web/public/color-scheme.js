// Runs before the first paint, so that a dark screen never flashes white. It is a separate file because the
// content security policy forbids inline scripts.
(() => {
  let stored = null;
  try {
    stored = window.localStorage.getItem('mantine-color-scheme-value');
  } catch {
    // Storage may be disabled; fall back to the system's scheme.
  }
  const scheme =
    stored === 'light' || stored === 'dark'
      ? stored
      : window.matchMedia('(prefers-color-scheme: dark)').matches
        ? 'dark'
        : 'light';
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme);
})();
