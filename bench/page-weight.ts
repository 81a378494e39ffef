import { gzipSync } from 'node:zlib';
import type { BrowserContext, Response } from '@playwright/test';

/** Budgets in KiB of gzipped JavaScript, without the chart library. */
export const LOGIN_KIB = 115;
export const PAGE_KIB = 60;
const CHART_LIBRARY = /lightweight-charts/;
const SETTLED_MS = 400;
const LIMIT_MS = 20_000;

/** The scripts that a page loads without interaction, with their weight in KiB, cached or not. */
export async function weighScripts(context: BrowserContext, url: string): Promise<Map<string, number>> {
  const page = await context.newPage();
  const scripts = new Map<string, number>();
  let underWay = 0;
  let lastAt = 0;
  const isScript = (address: string) => new URL(address).pathname.endsWith('.js');
  async function weigh(response: Response): Promise<void> {
    const name = new URL(response.url()).pathname;
    const body = await response.body();
    if (!CHART_LIBRARY.test(name)) scripts.set(name, gzipSync(body).length / 1024);
  }
  page.on('request', (request) => {
    if (isScript(request.url())) underWay += 1;
  });
  page.on('response', (response) => {
    if (!isScript(response.url())) return;
    const done = () => {
      underWay -= 1;
      lastAt = performance.now();
    };
    weigh(response).then(done, done);
  });
  try {
    await page.goto(url);
    lastAt = performance.now();
    const deadline = lastAt + LIMIT_MS;
    // The event stream never ends, so the network is never idle: wait until no script has arrived for a while.
    while (underWay > 0 || performance.now() - lastAt < SETTLED_MS) {
      if (performance.now() > deadline) throw new Error(`${url} kept loading scripts`);
      await page.waitForTimeout(SETTLED_MS / 5);
    }
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
