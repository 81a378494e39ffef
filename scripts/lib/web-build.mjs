import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './child.mjs';
import { nodeEnvironment } from './node-runtime.mjs';
import { root, SetupError, say } from './project.mjs';
import { withSetupLock } from './setup-lock.mjs';

const INPUTS = [
  'web',
  'contract',
  'domain',
  'index.html',
  'vite.config.ts',
  'package.json',
  'package-lock.json',
];
const output = join(root, 'dist', 'web');
const marker = join(output, '.built-from');

/**
 * Builds the web into dist/web, unless it was built from the same files.
 * @param {string} node
 */
export async function ensureWebBuilt(node) {
  const inputs = await hashInputs();
  if ((await builtFrom()) === inputs) return;
  await withSetupLock(async () => {
    if ((await builtFrom()) === inputs) return;
    say('Building the web …');
    await build(node, inputs);
  });
}

async function builtFrom() {
  return readFile(marker, 'utf8').catch(() => '');
}

/**
 * Built aside and moved into its place, so that an interrupted build is never served.
 * @param {string} node
 * @param {string} inputs
 */
async function build(node, inputs) {
  const draft = `${output}.new`;
  const old = `${output}.old`;
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  await rm(draft, { recursive: true, force: true });
  const code = await run(node, [vite, 'build', '--outDir', draft, '--emptyOutDir', '--logLevel', 'warn'], {
    env: nodeEnvironment(node, { NODE_ENV: 'production' }),
  });
  if (code !== 0) throw new SetupError(`The web could not be built (${code})`);
  await writeFile(join(draft, '.built-from'), inputs);
  await rm(old, { recursive: true, force: true });
  await rename(output, old).catch(() => {});
  await rename(draft, output);
  await rm(old, { recursive: true, force: true });
}

/** By content: a fresh checkout has new times, and that is no reason to build. */
async function hashInputs() {
  const hash = createHash('sha256');
  for (const input of INPUTS) await addToHash(hash, input);
  return hash.digest('hex');
}

/**
 * @param {import('node:crypto').Hash} hash
 * @param {string} path relative to the project
 */
async function addToHash(hash, path) {
  let entries;
  try {
    entries = await readdir(join(root, path), { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return;
    if (error.code !== 'ENOTDIR') throw error;
    hash
      .update(path)
      .update('\0')
      .update(await readFile(join(root, path)))
      .update('\0');
    return;
  }
  for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!/\.test\.tsx?$/.test(name)) await addToHash(hash, `${path}/${name}`);
  }
}
