/** The exports of chromium.mjs that playwright.config.ts and the benchmarks use. */
export const CHROMIUM_FLAGS: string[];
export function findChromium(): string | undefined;
