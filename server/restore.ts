import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { restoreBackup } from './admin/backup/restore-backup.ts';
import { runCommand } from './command.ts';
import { systemClock } from './platform/clock.ts';
import { type Config, readConfig } from './platform/config/config.ts';
import { findSecretKeys } from './platform/config/secret-key.ts';
import { openDatabase } from './platform/db/pool.ts';
import { StartError } from './platform/db/start-error.ts';
import { createLog } from './platform/log.ts';

// node server/restore.ts file: fills the database from a backup. The program must not be running.

const USAGE = 'Usage: npm run restore -- file [--replace [--yes]] [--other-key] [--unverified]';
const OPTIONS = ['--replace', '--yes', '--other-key', '--unverified'];

await runCommand(main);

async function main(args: string[]): Promise<void> {
  const [file, ...more] = args.filter((arg) => !arg.startsWith('-'));
  const given = args.filter((arg) => arg.startsWith('-'));
  if (file === undefined || more.length > 0 || given.some((arg) => !OPTIONS.includes(arg))) {
    throw new StartError(USAGE);
  }
  const config = readConfig();
  const replace = given.includes('--replace');
  if (replace && !given.includes('--yes')) await confirm(config);
  const keys = await findSecretKeys(config);
  if (keys === null && !given.includes('--other-key')) {
    throw new StartError(
      `There is no ${config.dataDir}/secret.key: put the one that belongs to the backup there first, or add --other-key --unverified to go without what is sealed with it (webhook keys, exchange credentials)`,
    );
  }
  const database = await openDatabase({ config, log: createLog({ level: 'warn' }) });
  try {
    const { createdAt, rows, isVerified, endedWorkflows, ordersInDoubt } = await restoreBackup({
      connection: database.connection,
      path: resolve(file),
      keys: given.includes('--other-key') ? null : keys,
      unverified: given.includes('--unverified'),
      replace,
      now: systemClock.now(),
    });
    console.log(`Restored ${rows} rows as they were at ${createdAt}. Everybody signs in anew.`);
    console.log(
      `${endedWorkflows} workflows that were under way then have been ended; ${ordersInDoubt} orders will be looked up at the exchange after the start.`,
    );
    if (!isVerified) {
      console.log(
        'WARNING: nothing shows that this backup is unchanged. Look at the users, the webhooks and the audit trail before you switch trading on.',
      );
    }
    console.log(
      'Whatever happened after the backup is not in it: compare the positions page with the exchange.',
    );
  } finally {
    await database.close();
  }
}

async function confirm(config: Config): Promise<void> {
  if (!process.stdin.isTTY) throw new StartError('--replace needs --yes where nobody can be asked');
  const where =
    config.databaseUrl === null
      ? `the database in ${config.dataDir}`
      : `the database ${new URL(config.databaseUrl).pathname.slice(1)} at ${new URL(config.databaseUrl).host}`;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(
    `Everything in ${where} will be replaced. Type "replace" to go on: `,
  );
  terminal.close();
  if (answer.trim() !== 'replace') throw new StartError('Nothing was changed');
}
