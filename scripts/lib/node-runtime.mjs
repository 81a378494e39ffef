import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { withoutSecrets } from './child.mjs';
import { root, SetupError } from './project.mjs';

const OLDEST = [22, 18];

/**
 * The Node that runs the program: the packaged one, or the current one if it is new enough.
 * @returns {string} its path
 */
export function findNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const packaged = join(root, 'node_modules', `node-${platform}-${process.arch}`, 'bin', file);
  const env = withoutSecrets();
  if (existsSync(packaged) && spawnSync(packaged, ['--version'], { env }).status === 0) return packaged;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return process.execPath;
  throw new SetupError(
    `Node ${process.versions.node} is too old here and no newer one came with the packages; install Node ${OLDEST.join('.')} or newer`,
  );
}

/**
 * The environment for a program on that Node, so its child processes find the same one.
 * @param {string} node
 * @param {NodeJS.ProcessEnv} [more]
 * @returns {NodeJS.ProcessEnv}
 */
export function nodeEnvironment(node, more = {}) {
  return {
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`,
    // Caches compiled and type-stripped sources between starts.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, '.cache', 'node'),
    ...more,
  };
}
