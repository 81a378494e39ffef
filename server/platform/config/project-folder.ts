import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The root of the project, also for the built program. */
export const PROJECT_FOLDER = folderOf('package.json', import.meta.dirname);

function folderOf(file: string, from: string): string {
  if (existsSync(join(from, file))) return from;
  const above = dirname(from);
  if (above === from) throw new Error(`No folder above ${import.meta.dirname} has a ${file}`);
  return folderOf(file, above);
}
