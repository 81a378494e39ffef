import { resetPassword } from './admin/users/reset-password.ts';
import { runCommand, withDatabase } from './command.ts';
import { openCommandTrail } from './platform/audit/command-trail.ts';
import { systemClock } from './platform/clock.ts';
import { readConfig } from './platform/config/config.ts';
import { StartError } from './platform/db/start-error.ts';

// node server/reset-password.ts username: replaces a forgotten password and removes the second factors, even while the
// program runs.

await runCommand(main);

async function main(args: string[]): Promise<void> {
  const [username, ...more] = args;
  if (username === undefined || more.length > 0 || username.startsWith('-')) {
    throw new StartError('Usage: npm run reset-password -- username');
  }
  const config = readConfig();
  await withDatabase({ config, command: 'reset-password' }, async (db) => {
    const clock = systemClock;
    const audit = await openCommandTrail({ db, clock, config });
    const reset = await resetPassword({ db, clock, audit }, username);
    if (reset.user === null) {
      const { administrators } = reset;
      throw new StartError(
        `There is no user ${JSON.stringify(username)}; the administrators are: ${administrators.join(', ')}`,
      );
    }
    const { user, password, hadFactors } = reset;
    console.log(`The password of ${user.username} is now ${password}`);
    console.log('Everybody who was signed in with the former one is signed out. Change it after signing in.');
    if (hadFactors) console.log('The second factors of the account were removed. Set them up again.');
    if (!user.isActive) console.log('The account is deactivated: an administrator has to activate it first.');
  });
}
