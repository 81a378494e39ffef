import { parseArgs } from 'node:util';
import { createTradingStopBody } from '#contract/trading-stops.ts';
import { stopEntries } from './admin/stops/stop-entries.ts';
import { usernameKey } from './admin/users/user-rows.ts';
import { findUserByKey } from './admin/users/users.store.ts';
import { runCommand, withDatabase } from './command.ts';
import { programActor } from './platform/audit/audit-trail.ts';
import { openCommandTrail } from './platform/audit/command-trail.ts';
import { systemClock } from './platform/clock.ts';
import { readConfig } from './platform/config/config.ts';
import type { Queryable } from './platform/db/database.ts';
import { StartError } from './platform/db/start-error.ts';

// node server/stop-trading.ts --reason TEXT: stops new entries where the program runs, even without a browser.

const USAGE = `npm run stop-trading -- --reason TEXT [--strategy NAME | --token TOKEN | --user USERNAME] [--until INSTANT]

Stops new entries for everybody, or for one strategy, token or user, on every instance. When the command ends, no entry
leaves any more; orders that rest unfilled are cancelled within seconds. Positions stay open and keep their stops.
Lift the stop on the screen.

  --until INSTANT  ends it by itself, for example 2026-11-28T08:00:00Z`;

await runCommand(main);

async function main(args: string[]): Promise<void> {
  const { help, reason, until, ...scopes } = readArguments(args);
  if (help) {
    console.log(USAGE);
    return;
  }
  if (reason === undefined) throw new StartError(`A reason is needed\n\n${USAGE}`);
  if (Object.values(scopes).filter((value) => value !== undefined).length > 1) {
    throw new StartError(`Only one of --strategy, --token and --user\n\n${USAGE}`);
  }
  const config = readConfig();
  await withDatabase({ config, command: 'stop-trading' }, async (db) => {
    const clock = systemClock;
    const scope = await readScope(db, scopes);
    const checked = createTradingStopBody.safeParse({
      scope,
      reason,
      ...(until === undefined ? {} : { until }),
    });
    if (!checked.success) throw new StartError(checked.error.issues.map(({ message }) => message).join('; '));
    const end = until === undefined ? null : new Date(until);
    if (end !== null && end <= clock.now()) throw new StartError('--until must be in the future');
    const audit = await openCommandTrail({ db, clock, config });
    await stopEntries(
      { db, clock, jobs: null, audit },
      {
        scope: checked.data.scope,
        reason: checked.data.reason ?? null,
        until: end,
        by: programActor('npm run stop-trading', 'command'),
        userId: null,
      },
    );
    const whom = scopes.strategy ?? scopes.token ?? scopes.user ?? 'everybody';
    console.log(`New entries are stopped for ${whom}${end === null ? '' : ` until ${end.toISOString()}`}.`);
    console.log('Positions stay open and keep their stops. Lift the stop on the screen.');
  });
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        reason: { type: 'string' },
        strategy: { type: 'string' },
        token: { type: 'string' },
        user: { type: 'string' },
        until: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new StartError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

async function readScope(
  db: Queryable,
  { strategy, token, user }: { strategy?: string; token?: string; user?: string },
): Promise<unknown> {
  if (strategy !== undefined) return { kind: 'strategy', value: strategy };
  if (token !== undefined) return { kind: 'token', value: token };
  if (user === undefined) return { kind: 'all' };
  const found = await findUserByKey(db, usernameKey(user));
  if (found === null) throw new StartError(`There is no user ${JSON.stringify(user)}`);
  return { kind: 'user', value: found.id };
}
