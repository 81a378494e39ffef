import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and those above it, private to their owner, as `server/platform/make-folder.ts` does: Node's own
 * recursion never ends below /proc. The scripts also run on a Node that does not read TypeScript.
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
