/** What playwright.config.ts and the benchmarks take from chromium.mjs. */
export const CHROMIUM_FLAGS: string[];
export function findChromium(): string | undefined;
