import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type BrowserContext, chromium, type Request } from '@playwright/test';
import { PAGES } from '#contract/pages.ts';
import { signIn } from '#demo/program-client.ts';
import { openStream, type TestStream } from '#test/app/test-events.ts';
import { CHROMIUM_FLAGS, findChromium } from '../scripts/lib/chromium.mjs';
import { post } from './deliveries.ts';
import { type Bench, type BenchContext, percentile, sum } from './figures.ts';
import {
  type Cluster,
  type Program,
  runChild,
  UNLIMITED,
  withCluster,
  withProgram,
  withResource,
} from './harness.ts';

const BROWSERS = 100;
const INSTANCES = 2;
/** The program allows 20 streams per user. */
const TABS_A_USER = 5;
const PASSWORD = 'a password of an operator';

/** The time from a signal until each of 100 open browsers has its event, on two instances. */
export const events: Bench = {
  about: 'a change until 100 browsers know it',
  takes: '1 minute',
  async run({ add, say, short }) {
    const signals = short ? 5 : 100;
    await withCluster({ instances: INSTANCES, env: () => UNLIMITED }, async (cluster) => {
      say(`opening ${BROWSERS} browsers`);
      const streams = await openBrowsers(cluster);
      try {
        say(`${signals} signals`);
        const heardMs: number[] = [];
        const slowestMs: number[] = [];
        for (let number = 0; number < signals; number += 1) {
          const server = instanceFor(cluster, number);
          const { id, sentAt } = await post({ ...cluster, server }, 'signal', { token: 'BTC' });
          const ms = await Promise.all(streams.map(async (stream) => (await hears(stream, id)) - sentAt));
          heardMs.push(...ms);
          slowestMs.push(Math.max(...ms));
          await sleep(200);
        }
        for (const ms of slowestMs) add('a signal until all browsers have heard of it', 'ms', ms);
        const what = 'a signal until a browser has heard of it';
        add(`${what}, half of them`, 'ms', percentile(heardMs, 0.5));
        add(`${what}, p95`, 'ms', percentile(heardMs, 0.95), { most: 500 });
        add(`${what}, p99`, 'ms', percentile(heardMs, 0.99));
      } finally {
        for (const stream of streams) stream.close();
      }
    });
    return {
      about: `A signal's event at each of ${BROWSERS} open connections to GET /api/events, half of them at the instance that did not take the signal`,
      notes: [
        'The time runs from the sending of the signal, so its commit is part of it. Changes are gathered for a moment before they are sent.',
        `${INSTANCES} instances on one PostgreSQL; ${BROWSERS / TABS_A_USER} administrators with ${TABS_A_USER} connections each.`,
      ],
    };
  },
};

function instanceFor({ programs }: Cluster, number: number): Program['server'] {
  const program = programs[number % programs.length];
  if (program === undefined) throw new Error('The cluster has no instance');
  return program;
}

async function openBrowsers(cluster: Cluster): Promise<TestStream[]> {
  const streams: TestStream[] = [];
  for (let user = 0; user < BROWSERS / TABS_A_USER; user += 1) {
    const account = { username: `operator${user}@example.com`, password: PASSWORD };
    await cluster.client.post('/api/admin/create-client', { ...account, isAdmin: true });
    const own = await signIn({ url: instanceFor(cluster, 0).url, ...account });
    for (let tab = 0; tab < TABS_A_USER; tab += 1) {
      const stream = await openStream(instanceFor(cluster, streams.length).url, own.cookie());
      if (stream.status !== 200) throw new Error(`An event stream was refused with ${stream.status}`);
      streams.push(stream);
    }
  }
  return streams;
}

/** When the signal's event arrived on the stream, in milliseconds since 1970. Clears the events received so far. */
async function hears(stream: TestStream, signalId: string): Promise<number> {
  const at = await stream.wait(
    ({ heard }) =>
      heard.find(({ event, data }) => event === 'changes' && JSON.stringify(data).includes(signalId))?.at,
    10_000,
  );
  stream.heard.length = 0;
  return at;
}

/** Budgets in KiB of gzipped JavaScript, without charts. */
export const LOGIN_KIB = 160;
export const PAGE_KIB = 90;
/** The chart library and what draws with it, which loads once there are candles. */
const CHARTS = /lightweight-charts|candle-chart-drawing|base-chart/;
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
    if (!CHARTS.test(name)) scripts.set(name, gzipSync(body).length / 1024);
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

export const totalKib = (scripts: ReadonlyMap<string, number>): number => sum([...scripts.values()]);

/** The weight that a page adds to scripts that are already loaded. */
export const totalBeyond = (
  scripts: ReadonlyMap<string, number>,
  known: ReadonlyMap<string, number>,
): number => totalKib(new Map([...scripts].filter(([name]) => !known.has(name))));

/** More than one page of the table. */
const SIGNALS = 150;
const AUDITED = [
  { path: '/login', name: 'login', least: 95, signedIn: false },
  { path: '/signals', name: 'a full signals page', least: 90, signedIn: true },
] as const;

/** The weight of the scripts that the browser loads, and Lighthouse scores. */
export const screens: Bench = {
  about: 'weight of the screens, and Lighthouse',
  takes: '3 minutes',
  async run(context) {
    const { say, short } = context;
    const rounds = short ? 1 : 5;
    const browser = findChromium();
    const lighthouse = await findLighthouse();
    if (browser !== undefined) {
      await withProgram(UNLIMITED, async (program) => {
        for (let number = 0; number < SIGNALS; number += 1) {
          await post(program, 'signal', { token: `FULL${number % 40}` });
        }
        await weighScreens(context, { program, browser });
        for (let round = 1; lighthouse !== null && round <= rounds; round += 1) {
          say(`Lighthouse, round ${round} of ${rounds}`);
          await auditScreens(context, { program, browser, lighthouse });
        }
      });
    }
    return {
      about: 'Weight and speed of the screens',
      notes: [
        'Weights are of JavaScript compressed with gzip, by the scripts that a browser asks for; the library of charts is loaded with the first chart and counts apart. The same budgets are a browser test.',
        ...(browser === undefined ? ['Not measured: there is no Chromium; CHROMIUM_PATH names one.'] : []),
        lighthouse === null
          ? 'Lighthouse is not installed, so its scores are left out: `npm install lighthouse` in a folder anywhere, and LIGHTHOUSE_FOLDER names that folder.'
          : `Lighthouse ${lighthouse.version} with its desktop configuration: simulated throttling, a new browser for each audit.`,
      ],
    };
  },
};

async function weighScreens(
  { add }: BenchContext,
  { program, browser: executablePath }: { program: Program; browser: string },
): Promise<void> {
  const { url } = program.server;
  const open = () => chromium.launch({ executablePath, args: CHROMIUM_FLAGS });
  await withResource({ open, close: (browser) => browser.close() }, async (browser) => {
    const context = await browser.newContext();
    const login = await weighScripts(context, `${url}/login`);
    add('scripts of the login', 'KiB', totalKib(login), { most: LOGIN_KIB });
    const [name = '', value = ''] = program.client.cookie().split('=');
    await context.addCookies([{ name, value, url }]);
    for (const page of PAGES) {
      const scripts = await weighScripts(context, url + page.path);
      const kib = totalBeyond(scripts, login);
      add(`scripts of ${page.displayName}, beyond those`, 'KiB', kib, { most: PAGE_KIB });
    }
  });
}

/** Lighthouse is not a dependency: 176 MB for one benchmark. */
interface Lighthouse {
  /** Path of its command line script. */
  command: string;
  version: string;
}

/** Searches LIGHTHOUSE_FOLDER and the current folder, and the folders above each; null when not installed. */
async function findLighthouse(): Promise<Lighthouse | null> {
  const folders = [process.env.LIGHTHOUSE_FOLDER, process.cwd()].filter((folder) => folder !== undefined);
  for (const start of folders) {
    for (let folder = start; ; folder = dirname(folder)) {
      const home = join(folder, 'node_modules', 'lighthouse');
      const manifest = join(home, 'package.json');
      if (existsSync(manifest)) {
        const { version } = JSON.parse(await readFile(manifest, 'utf8'));
        return { command: join(home, 'cli', 'index.js'), version };
      }
      if (folder === dirname(folder)) break;
    }
  }
  return null;
}

interface Report {
  finalDisplayedUrl: string;
  runtimeError?: { message: string };
  categories: { performance?: { score: number | null } };
  audits: Record<string, { numericValue?: number } | undefined>;
}

async function auditScreens(
  { add }: BenchContext,
  options: { program: Program; browser: string; lighthouse: Lighthouse },
): Promise<void> {
  const { program, browser, lighthouse } = options;
  for (const { path, name, least, signedIn } of AUDITED) {
    const url = program.server.url + path;
    const headers = signedIn ? { Cookie: program.client.cookie() } : {};
    const args = [
      '--preset=desktop',
      '--only-categories=performance',
      '--output=json',
      '--quiet',
      `--chrome-flags=${CHROMIUM_FLAGS.join(' ')}`,
      `--extra-headers=${JSON.stringify(headers)}`,
    ];
    const output = await runChild(process.execPath, [lighthouse.command, url, ...args], {
      env: { CHROME_PATH: browser },
      limitMs: 120_000,
    });
    const { categories, runtimeError, finalDisplayedUrl, audits } = JSON.parse(output) as Report;
    const score = categories.performance?.score ?? null;
    if (score === null || runtimeError) {
      throw new Error(`Lighthouse had no score for ${url}: ${runtimeError?.message ?? 'no reason'}`);
    }
    if (finalDisplayedUrl.split('?')[0] !== url) {
      throw new Error(`Lighthouse was redirected from ${url} to ${finalDisplayedUrl}`);
    }
    const measured = (audit: string) => audits[audit]?.numericValue ?? Number.NaN;
    add(`Lighthouse: ${name}`, 'of 100', 100 * score, { least });
    add(`largest contentful paint: ${name}`, 'ms', measured('largest-contentful-paint'));
    add(`total blocking time: ${name}`, 'ms', measured('total-blocking-time'));
    add(`layout shift: ${name}`, '', measured('cumulative-layout-shift'));
  }
}
