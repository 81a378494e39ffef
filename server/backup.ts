import { join, resolve } from 'node:path';
import { noteBackup, writeBackup } from './admin/backup/write-backup.ts';
import { runCommand } from './command.ts';
import { systemClock } from './platform/clock.ts';
import { readConfig } from './platform/config/config.ts';
import { findSecretKeys, keyPath } from './platform/config/secret-key.ts';
import { reachDatabase } from './platform/db/pool.ts';
import { StartError } from './platform/db/start-error.ts';

// node server/backup.ts [file]: writes a backup, even while the program runs.

await runCommand(main);

async function main(args: string[]): Promise<void> {
  const [file, ...more] = args;
  if (more.length > 0 || file?.startsWith('-')) throw new StartError('Usage: npm run backup -- [file]');
  const config = readConfig();
  const now = systemClock.now();
  const stamp = now.toISOString().replace(/[-:]/g, '').slice(0, 15);
  const path = resolve(file ?? join(config.dataDir, 'backups', `signal-board-${stamp}.backup`));
  const { connection, close } = await reachDatabase(config);
  try {
    const keys = await findSecretKeys(config);
    if (keys === null) {
      throw new StartError(`There is no ${keyPath(config)}: put the key of this database back first`);
    }
    const { tables, rows } = await writeBackup({ connection, keys, path, now });
    await noteBackup({ connection, keys, path, rows });
    console.log(`${path}: ${rows} rows of ${tables} tables, as of ${now.toISOString()}`);
    const key = config.secretKey === null ? join(config.dataDir, 'secret.key') : 'SECRET_KEY';
    console.log(
      `Keep ${key} as well, apart from it: without that key the webhook keys and exchange credentials in the backup cannot be read.`,
    );
  } finally {
    await close();
  }
}
