import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import drizzleConfig from '../../../drizzle.config.ts';

const run = promisify(execFile);

test('the migrations make exactly the schema that the code works with', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signal-board-migrations-'));
  try {
    await cp('migrations', folder, { recursive: true });
    // The tool takes a path relative to the project only.
    const out = relative(process.cwd(), folder);
    const config = join(folder, 'drizzle.config.json');
    await writeFile(config, JSON.stringify({ ...drizzleConfig, out }));
    const tool = 'node_modules/drizzle-kit/bin.cjs';
    const { stdout } = await run(process.execPath, [
      tool,
      'generate',
      `--config=${relative(process.cwd(), config)}`,
    ]);
    expect(stdout).toContain('No schema changes');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
