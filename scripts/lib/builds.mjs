import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, withoutSecrets } from './child.mjs';
import { nodeEnvironment } from './node-runtime.mjs';
import { root, SetupError, say } from './project.mjs';
import { withSetupLock } from './setup-lock.mjs';

const PACKAGES = ['package.json', 'package-lock.json'];

/**
 * One build: its folder in dist, its Vite configuration and its inputs.
 * @typedef {{ name: string, config: string, inputs: string[] }} Build
 */
/** @type {Build} */
const WEB = { name: 'web', config: 'vite.config.ts', inputs: ['web', 'contract', 'domain', ...PACKAGES] };
/** @type {Build} */
const SERVER = {
  name: 'server',
  config: 'vite.server.config.ts',
  inputs: ['server', 'contract', 'domain', ...PACKAGES],
};

/** The program that users run. */
export const program = join(root, 'dist', 'server', 'main.js');

/**
 * Node's arguments for it. By default V8 lets the heap grow to four times the live data before it collects garbage,
 * and keeps that size under load. At twice the live data candles cost the same.
 */
export const programArguments = [
  '--disable-warning=ExperimentalWarning',
  '--heap-growing-percent=100',
  program,
];

/**
 * Rebuilds every build that is missing or was built from other files.
 * @param {string} node
 */
export const ensureBuilt = (node) => ensure(node, [WEB, SERVER]);

/**
 * Like `ensureBuilt`, without the web.
 * @param {string} node
 */
export const ensureServerBuilt = (node) => ensure(node, [SERVER]);

/**
 * @param {string} node
 * @param {Build[]} builds
 */
async function ensure(node, builds) {
  if ((await findStale(builds)).length === 0) return;
  await withSetupLock(async () => {
    const stale = await findStale(builds);
    for (const { name } of stale) say(`Building the ${name} …`);
    const ended = await Promise.allSettled(stale.map((one) => build(node, one)));
    for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason;
  });
}

/** @param {Build} build */
const outputOf = ({ name }) => join(root, 'dist', name);

/** @param {Build[]} builds */
async function findStale(builds) {
  const found = await Promise.all(
    builds.map(async (build) => {
      const builtFrom = await readFile(join(outputOf(build), '.built-from'), 'utf8').catch(() => '');
      const inputs = hashFiles([...build.inputs, build.config]);
      return builtFrom === inputs ? [] : [{ ...build, inputs }];
    }),
  );
  return found.flat();
}

/**
 * Builds into a draft folder and moves it into place, so an interrupted build is never used.
 * @param {string} node
 * @param {{ name: string, config: string, inputs: string }} build
 */
async function build(node, { name, config, inputs }) {
  const output = join(root, 'dist', name);
  const draft = `${output}.new`;
  const old = `${output}.old`;
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  await rm(draft, { recursive: true, force: true });
  const args = ['--config', config, '--outDir', draft, '--emptyOutDir', '--logLevel', 'warn'];
  const code = await run(node, [vite, 'build', ...args], {
    env: withoutSecrets(nodeEnvironment(node, { NODE_ENV: 'production' })),
  });
  if (code !== 0) throw new SetupError(`The ${name} could not be built (${code})`);
  await writeFile(join(draft, '.built-from'), inputs);
  await rm(old, { recursive: true, force: true });
  await rename(output, old).catch(() => {});
  await rename(draft, output);
  await rm(old, { recursive: true, force: true });
}

/**
 * Hashes contents, because a fresh checkout has new times. Reading a thousand small files synchronously takes about
 * 45 ms.
 * @param {string[]} paths relative to the project
 */
function hashFiles(paths) {
  const hash = createHash('sha256');
  for (const path of paths) addToHash(hash, path);
  return hash.digest('hex');
}

/**
 * @param {import('node:crypto').Hash} hash
 * @param {string} path relative to the project
 */
function addToHash(hash, path) {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) {
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0');
    return;
  }
  for (const name of readdirSync(join(root, path)).sort()) {
    if (!/\.test\.tsx?$/.test(name)) addToHash(hash, `${path}/${name}`);
  }
}
