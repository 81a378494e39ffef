// Runs before the first paint, so that a dark screen never flashes white. A file of its own because the
// content security policy forbids inline script.
(() => {
  let stored = null;
  try {
    stored = window.localStorage.getItem('mantine-color-scheme-value');
  } catch {
    // Storage may be switched off; the system's scheme is used then.
  }
  const scheme =
    stored === 'light' || stored === 'dark'
      ? stored
      : window.matchMedia('(prefers-color-scheme: dark)').matches
        ? 'dark'
        : 'light';
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme);
})();
