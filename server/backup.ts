import { join, resolve } from 'node:path';
import { writeBackup } from './admin/backup/write-backup.ts';
import { ConfigError, parseConfig, readEnvironment } from './platform/config/config.ts';
import { loadSecretKey } from './platform/config/secret-key.ts';
import { reachDatabase } from './platform/db/pool.ts';
import { StartError } from './platform/db/start-error.ts';

// node server/backup.ts [file]: writes a backup, even while the program runs.

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isExpected = error instanceof StartError || error instanceof ConfigError;
  console.error(isExpected ? error.message : error);
  process.exitCode = 1;
}

async function main(args: string[]): Promise<void> {
  const [file, ...more] = args;
  if (more.length > 0 || file?.startsWith('-')) throw new StartError('Usage: npm run backup -- [file]');
  const config = parseConfig(readEnvironment({ env: process.env, folder: process.cwd() }));
  const now = new Date();
  const stamp = now.toISOString().replace(/[-:]/g, '').slice(0, 15);
  const path = resolve(file ?? join(config.dataDir, 'backups', `signal-board-${stamp}.backup`));
  const { connection, close } = await reachDatabase(config);
  try {
    const secretKey = await loadSecretKey(config);
    const { tables, rows } = await writeBackup({ connection, secretKey, path, now });
    console.log(`${path}: ${rows} rows of ${tables} tables, as of ${now.toISOString()}`);
    console.log(
      config.secretKey === null
        ? `Keep ${join(config.dataDir, 'secret.key')} as well, apart from it: without that key the webhook keys and exchange credentials in the backup cannot be read.`
        : 'Keep SECRET_KEY as well, apart from it: without that key the webhook keys and exchange credentials in the backup cannot be read.',
    );
  } finally {
    await close();
  }
}
