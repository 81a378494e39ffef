import { chromium } from '@playwright/test';
import { PAGES } from '#contract/pages.ts';
import { findChromium } from '../scripts/lib/chromium.mjs';
import type { BenchContext } from './bench.ts';
import { withChromium } from './chromium.ts';
import { type BenchResult, createFigures, type Figures } from './figures.ts';
import { findLighthouse, type Lighthouse } from './lighthouse.ts';
import { LOGIN_KIB, PAGE_KIB, total, totalBeyond, weighScripts } from './page-weight.ts';
import { type Program, withProgram } from './program.ts';
import { post } from './traders.ts';

/** More than a page of the table. */
const SIGNALS = 150;
const AUDITED = [
  { path: '/login', name: 'login', least: 95, signedIn: false },
  { path: '/signals', name: 'a full signals page', least: 90, signedIn: true },
] as const;

/** What the browser loads, and how Lighthouse judges it. */
export async function benchScreens({ say, short }: BenchContext): Promise<BenchResult> {
  const rounds = short ? 1 : 5;
  const figures = createFigures();
  const notes = [
    'Weights are of JavaScript compressed with gzip, by the scripts that a browser asks for; the library of charts is loaded with the first chart and counts apart. The same budgets are a browser test.',
  ];
  const path = findChromium();
  const lighthouse = await findLighthouse();
  if (path === undefined) notes.push('Not measured: there is no Chromium; CHROMIUM_PATH names one.');
  else {
    await withProgram({ AUTO_TRADE: 'disabled', WEBHOOK_RATE_LIMIT: '0' }, async (program) => {
      const cookie = await signIn(program);
      for (let number = 0; number < SIGNALS; number += 1) {
        await post(program, 'signal', { token: `FULL${number % 40}` });
      }
      await weigh({ program, path, cookie, figures });
      if (lighthouse === null) return;
      for (let round = 1; round <= rounds; round += 1) {
        say(`screens: Lighthouse, round ${round} of ${rounds}`);
        await audit({ program, path, cookie, lighthouse, figures });
      }
    });
  }
  notes.push(
    lighthouse === null
      ? 'Lighthouse is not installed, so its scores are left out: `npm install lighthouse` in a folder anywhere, and LIGHTHOUSE_FOLDER names that folder.'
      : `Lighthouse ${lighthouse.version} with its desktop configuration: simulated throttling, a new browser for each audit.`,
  );
  return { bench: 'screens', about: 'Weight and speed of the screens', figures: figures.all(), notes };
}

async function signIn({ server }: Program): Promise<string> {
  const { url, adminUsername: username, adminPassword: password } = server;
  const answer = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0];
  if (!answer.ok || cookie === undefined) throw new Error(`The sign-in was answered ${answer.status}`);
  return cookie;
}

function weigh(options: { program: Program; path: string; cookie: string; figures: Figures }): Promise<void> {
  const { program, path, cookie, figures } = options;
  const { url } = program.server;
  return withChromium(path, async (port) => {
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
    const context = await browser.newContext();
    const login = await weighScripts(context, `${url}/login`);
    figures.add('scripts of the login', 'KiB', total(login), { most: LOGIN_KIB });
    const [name = '', value = ''] = cookie.split('=');
    await context.addCookies([{ name, value, url }]);
    for (const page of PAGES) {
      const scripts = await weighScripts(context, url + page.path);
      const kib = totalBeyond(scripts, login);
      figures.add(`scripts of ${page.displayName}, beyond those`, 'KiB', kib, { most: PAGE_KIB });
    }
    await browser.close();
  });
}

async function audit(options: {
  program: Program;
  path: string;
  cookie: string;
  lighthouse: Lighthouse;
  figures: Figures;
}): Promise<void> {
  const { program, path, lighthouse, figures } = options;
  for (const { path: screen, name, least, signedIn } of AUDITED) {
    const url = program.server.url + screen;
    const cookie = signedIn ? options.cookie : null;
    const found = await withChromium(path, (port) => lighthouse.audit({ url, port, cookie }));
    figures.add(`Lighthouse: ${name}`, 'of 100', found.score, { least });
    figures.add(`largest contentful paint: ${name}`, 'ms', found.largestContentfulPaintMs);
    figures.add(`total blocking time: ${name}`, 'ms', found.totalBlockingTimeMs);
    figures.add(`layout shift: ${name}`, '', found.layoutShift);
  }
}
