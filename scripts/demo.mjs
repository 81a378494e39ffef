// npm run demo: the server on its own data folder, with a feed that simulates a market.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { makeFolder } from '../server/platform/make-folder.mjs';
import { ensureBuilt, programArguments } from './lib/builds.mjs';
import { ended, run, withoutSecrets } from './lib/child.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode, nodeEnvironment } from './lib/node-runtime.mjs';
import { root, runMain, SetupError, say } from './lib/project.mjs';

const ADMINISTRATOR = 'admin@example.com';
const SHORT_WAITS = { VERIFY_FIRST_MS: '1500', VERIFY_SECOND_MS: '2000', CANCEL_DELAY_MS: '500' };
/** Empty values count as unset and override .env: the demo must never reach a real system. */
const OWN_SYSTEM = {
  APP_ENV: 'production',
  EXCHANGE_MODE: 'paper',
  AUTO_TRADE: 'enabled',
  DATABASE_URL: '',
  SECRET_KEY: '',
  SECRET_KEY_NEXT: '',
  DEPLOYMENT_ID: '',
  PUBLIC_URL: '',
  WEBHOOK_ALLOWED_IPS: '',
  WEBHOOK_RATE_LIMIT: '0',
};
const quiet = '--disable-warning=ExperimentalWarning';
const feed = join(root, 'demo', 'feed.ts');

await runMain(async () => {
  const args = process.argv.slice(2);
  await ensureInstalled();
  const node = findNode();
  if (args.includes('--help') || args.includes('-h')) return run(node, [quiet, feed, '--help']);
  await ensureBuilt(node);
  const dataDir = resolve(root, process.env.DATA_DIR || join('data', 'demo'));
  const password = await keepPassword(dataDir);
  const env = nodeEnvironment(node, {
    LOG_LEVEL: process.env.LOG_LEVEL || 'warn',
    ...withDefaults(SHORT_WAITS),
    ...OWN_SYSTEM,
    DATA_DIR: dataDir,
    ADMIN_USERNAME: ADMINISTRATOR,
    ADMIN_PASSWORD: password,
    NODE_ENV: 'production',
  });
  const server = spawn(node, programArguments, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const serverEnd = ended(server);
  const url = await Promise.race([addressOf(server), serverEnd.then(() => null)]);
  if (url === null) return serverEnd;
  const feeder = spawn(node, [quiet, feed, ...args], {
    cwd: root,
    env: { ...withoutSecrets(env), DEMO_URL: url, DEMO_USERNAME: ADMINISTRATOR, DEMO_PASSWORD: password },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ends = [serverEnd, ended(feeder)];
  const first = await Promise.race(ends);
  for (const child of [server, feeder]) if (child.exitCode === null) child.kill('SIGTERM');
  await Promise.all(ends);
  return first;
});

/**
 * The administrator's password, stored in the data folder and created if missing.
 * @param {string} dataDir
 */
async function keepPassword(dataDir) {
  await makeFolder(dataDir).catch((error) => {
    throw new SetupError(`DATA_DIR ${dataDir} cannot be used (${error.code})`);
  });
  const path = join(dataDir, 'demo-password');
  const known = await readFile(path, 'utf8').catch(() => '');
  if (known.trim() !== '') return known.trim();
  const password = process.env.ADMIN_PASSWORD || randomBytes(9).toString('base64url');
  await writeFile(path, `${password}\n`, { mode: 0o600 });
  return password;
}

/** @param {Record<string, string>} defaults */
function withDefaults(defaults) {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, process.env[name] || value]),
  );
}

/**
 * Reads the server's URL from its start notice. Hides the notice, because the feed prints a fuller one, and forwards
 * other output.
 * @param {import('node:child_process').ChildProcess} server
 * @returns {Promise<string>}
 */
function addressOf(server) {
  return new Promise((resolve) => {
    let rules = 0;
    createInterface({ input: server.stdout }).on('line', (line) => {
      if (/^─+$/.test(line)) rules += 1;
      else if (rules === 1) {
        const [, address] = /^ {2}Address +(http:\/\/\S+)/.exec(line) ?? [];
        if (address) resolve(address);
      } else if (line !== '') say(line);
    });
  });
}
