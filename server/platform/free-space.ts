import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './db/start-error.ts';

/** Under this, the program asks for room. */
export const LOW_SPACE = 0.05;
/** Under this, the disk is practically full: a database on it can no longer commit. */
export const NO_SPACE = 0.01;

/** Blocks that the program may still use, and all blocks of the disk with a folder. */
export type ReadDisk = (folder: string) => Promise<{ bavail: number; blocks: number }>;

/** The free part of the disk with a folder, from 0 to 1. A folder that is not there yet is going to be on its parent's disk. */
export async function readFreeSpace(folder: string, read: ReadDisk = statfs): Promise<number> {
  try {
    const { bavail, blocks } = await read(folder);
    return blocks === 0 ? 1 : bavail / blocks;
  } catch (error) {
    const parent = dirname(folder);
    if (!hasCode(error, 'ENOENT') || parent === folder) throw error;
    return readFreeSpace(parent, read);
  }
}
