import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and those above it, private to their owner. Node's own recursion never ends where the system says
 * 'no such file' below a folder that is there, as /proc does. JavaScript, because scripts use it on a Node that does not
 * read TypeScript.
 * @param {string} path
 */
export async function makeFolder(path) {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent);
  await mkdir(path, { mode: 0o700 }).catch(async (error) => {
    if (!(await isFolder(path))) throw error;
  });
}

/** @param {string} path */
async function isFolder(path) {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() ?? false;
}
