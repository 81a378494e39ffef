import pg from 'pg';
import { resetPassword } from './admin/users/reset-password.ts';
import { runCommand } from './command.ts';
import { systemClock } from './platform/clock.ts';
import { readConfig } from './platform/config/config.ts';
import { databaseErrorCode } from './platform/db/database-errors.ts';
import { drizzleOn } from './platform/db/drizzle-over.ts';
import { reachDatabase } from './platform/db/pool.ts';
import { StartError } from './platform/db/start-error.ts';

// node server/reset-password.ts username: replaces a forgotten password, even while the program runs.

const NO_TABLE = '42P01';

await runCommand(main);

async function main(args: string[]): Promise<void> {
  const [username, ...more] = args;
  if (username === undefined || more.length > 0 || username.startsWith('-')) {
    throw new StartError('Usage: npm run reset-password -- username');
  }
  const config = readConfig();
  const { connection, close } = await reachDatabase(config);
  const client = new pg.Client({ ...connection, application_name: 'signal-board reset-password' });
  try {
    client.on('error', () => {});
    await client.connect();
    const db = drizzleOn(client);
    const reset = await resetPassword({ db, clock: systemClock }, username).catch((error: unknown) => {
      if (databaseErrorCode(error) === NO_TABLE) throw new StartError('The database is empty');
      throw error;
    });
    if (reset.user === null) {
      const { administrators } = reset;
      throw new StartError(
        `There is no user ${JSON.stringify(username)}; the administrators are: ${administrators.join(', ')}`,
      );
    }
    const { user, password } = reset;
    console.log(`The password of ${user.username} is now ${password}`);
    console.log('Everybody who was signed in with the former one is signed out. Change it after signing in.');
    if (!user.isActive) console.log('The account is deactivated: an administrator has to activate it first.');
  } finally {
    await client.end().catch(() => {});
    await close();
  }
}
