import { existsSync } from 'node:fs';
import { run } from './child.mjs';
import { SetupError, say } from './project.mjs';

/** The headless shell comes first: it takes a third less processor time for the same page. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Headless, works as root, and makes no background requests. */
export const CHROMIUM_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const ADVICE = 'install Chromium, or set CHROMIUM_PATH to a Chromium or Chrome';

/**
 * Finds the browser for the end-to-end tests; installs it on Debian and Ubuntu when missing.
 * @returns {Promise<string>} its path
 */
export async function ensureChromium() {
  const chosen = process.env.CHROMIUM_PATH;
  if (chosen) {
    if (existsSync(chosen)) return chosen;
    throw new SetupError(`CHROMIUM_PATH is "${chosen}", and there is no such file`);
  }
  return findChromium() ?? (await installChromium());
}

/** CHROMIUM_PATH, or a Chromium found on this machine. */
export function findChromium() {
  return process.env.CHROMIUM_PATH || PLACES.find((path) => existsSync(path));
}

async function installChromium() {
  if (!existsSync('/usr/bin/apt-get'))
    throw new SetupError(`There is no Chromium on this machine; ${ADVICE}`);
  say('Installing Chromium …');
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  await apt(asRoot, ['update']);
  const install = ['install', '-y', '--no-install-recommends', 'fonts-liberation'];
  // Older distributions only have the full browser.
  await apt(asRoot, [...install, 'chromium-headless-shell']).catch(() =>
    apt(asRoot, [...install, 'chromium']),
  );
  const found = findChromium();
  if (!found) throw new SetupError(`apt-get installed no Chromium; ${ADVICE}`);
  return found;
}

/**
 * @param {string[]} asRoot
 * @param {string[]} args
 */
async function apt(asRoot, args) {
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Dpkg::Use-Pty=0'];
  const [file = '', ...rest] = [...asRoot, 'apt-get', ...options, ...args];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const code = await run(file, rest, { env, quiet: true }).catch(() => 127);
  if (code !== 0) throw new SetupError(`apt-get ${args[0]} failed (${code}); ${ADVICE}`);
}
