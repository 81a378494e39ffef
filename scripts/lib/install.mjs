import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run, withoutSecrets } from './child.mjs';
import { root, SetupError, say } from './project.mjs';
import { withSetupLock } from './setup-lock.mjs';

const installedList = join(root, 'node_modules', '.package-lock.json');

/** Installs the packages of package-lock.json unless they are installed. */
export async function ensureInstalled() {
  if (await isInstalled()) return;
  await withSetupLock(async () => {
    if (await isInstalled()) return;
    say('Installing the packages of package-lock.json …');
    // npm writes this file at the end, so an interrupted installation never looks complete.
    await rm(installedList, { force: true });
    const code = await npmInstall();
    if (code !== 0) throw new SetupError(`npm install failed (${code}): the packages could not be installed`);
    if (!(await isInstalled()))
      say('npm skipped packages that are meant for this machine; continuing without them.');
  });
}

// Not npm ci: it fails where a registry lacks an optional package of another platform.
// With --no-save npm uses the versions and checksums of package-lock.json without changing the file.
function npmInstall() {
  // The web is built on this machine, so development packages are needed even with NODE_ENV=production.
  const wanted = ['--no-save', '--ignore-scripts', '--include=dev', '--include=optional'];
  const args = ['install', ...wanted, '--no-audit', '--no-fund', '--loglevel=error'];
  const npmScript = process.env.npm_execpath;
  const env = withoutSecrets();
  if (npmScript?.endsWith('.js')) return run(process.execPath, [npmScript, ...args], { env });
  return run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, { env });
}

/**
 * Compares package-lock.json with the list that npm wrote at the end of its last installation. An interrupted
 * installation is repeated, a manual one accepted.
 */
async function isInstalled() {
  const wanted = await readPackages(join(root, 'package-lock.json'));
  const present = await readPackages(installedList).catch(() => null);
  if (!wanted || !present) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = present[path];
    if (found) return found.version === entry.version && found.integrity === entry.integrity;
    return Boolean(entry.optional || entry.peer || entry.devOptional) && !isForThisMachine(entry);
  });
}

/**
 * @param {string} path
 * @returns {Promise<Record<string, LockEntry> | undefined>}
 */
async function readPackages(path) {
  return JSON.parse(await readFile(path, 'utf8')).packages;
}

/**
 * npm may leave out optional packages that do not name a platform.
 * @param {LockEntry} entry
 */
function isForThisMachine({ os, cpu, libc }) {
  if (libc || !(os && cpu)) return false;
  return [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch);
}

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, peer?: boolean, devOptional?: boolean,
 *   os?: string | string[], cpu?: string | string[], libc?: string | string[] }} LockEntry
 */
