import { gzipSync } from 'node:zlib';
import type { BrowserContext, Request } from '@playwright/test';

/** Budgets in KiB of gzipped JavaScript, without the chart library. */
export const LOGIN_KIB = 115;
export const PAGE_KIB = 60;
const CHART_LIBRARY = /lightweight-charts/;
/** Code of a part of a screen is asked for when the part is drawn, which may be after the last script has arrived. */
const SETTLED_MS = 400;

/** The scripts that a page loads without interaction, with their weight in KiB, cached or not. */
export async function weighScripts(context: BrowserContext, url: string): Promise<Map<string, number>> {
  const page = await context.newPage();
  const scripts = new Map<string, number>();
  const weighing: Promise<void>[] = [];
  async function weigh(request: Request, name: string): Promise<void> {
    const response = await request.response();
    if (!response?.ok()) throw new Error(`${url} could not load ${name}`);
    const body = await response.body();
    if (!CHART_LIBRARY.test(name)) scripts.set(name, gzipSync(body).length / 1024);
  }
  page.on('request', (request) => {
    const name = new URL(request.url()).pathname;
    if (!name.endsWith('.js')) return;
    const weighed = weigh(request, name);
    // A failure is thrown when all are awaited.
    weighed.catch(() => {});
    weighing.push(weighed);
  });
  try {
    await page.goto(url);
    // A page shows its heading once its code is there.
    await page.getByRole('heading', { level: 1 }).waitFor();
    let known: number;
    do {
      known = weighing.length;
      await Promise.all(weighing);
      await page.waitForTimeout(SETTLED_MS);
    } while (weighing.length > known);
    return scripts;
  } finally {
    await page.close();
  }
}

export const total = (scripts: ReadonlyMap<string, number>): number =>
  [...scripts.values()].reduce((sum, kib) => sum + kib, 0);

/** The weight that a page adds to scripts that are already loaded. */
export const totalBeyond = (
  scripts: ReadonlyMap<string, number>,
  known: ReadonlyMap<string, number>,
): number => total(new Map([...scripts].filter(([name]) => !known.has(name))));
