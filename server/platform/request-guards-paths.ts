/** Paths of the API, whose answers are JSON whatever happens. */
export function isApiPath(url: string): boolean {
  return /^\/api(?:[/?]|$)/.test(url);
}

export function isHookPath(url: string): boolean {
  return /^\/hooks(?:[/?]|$)/.test(url);
}

/** Files that the build names by their content. */
export function isAssetPath(url: string): boolean {
  return url.startsWith('/assets/');
}
