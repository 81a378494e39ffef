import type { Statement } from '#contract/statements.ts';
import type { Deps } from '#server/deps.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { monthBounds } from '#server/platform/month-bounds.ts';
import { readStatement } from './read-statement.ts';
import {
  changeArchive,
  deleteArchives,
  listOpenArchives,
  listUsersUntil,
  type OpenArchive,
} from './statement-archives.store.ts';
import { statementCsv, statementHtml, statementsCsv } from './statement-files.ts';
import { createZip } from './zip-files.ts';

/** For what a program that died has left, and for archives that are a day old. */
const SWEEP_MS = 60_000;
const STOP_LIMIT_MS = 3_000;
const KEPT_MS = 24 * 3_600_000;

/** An archive that ended before is deleted. */
export const oldestArchive = (now: Date): Date => new Date(now.getTime() - KEPT_MS);

type ArchiverDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'log'>;

export interface StatementArchiver {
  /** Looks for requested archives now, and every minute, until the returned function is called. */
  start(): () => Promise<void>;
  /** An archive was requested. */
  wake(): void;
}

/** Makes the requested archives of statements. The rows are the truth: after a crash any instance begins the archive again. */
export function createStatementArchiver(deps: ArchiverDeps): StatementArchiver {
  const { db, clock, config, log } = deps;
  let isStarted = false;
  let isStopping = false;
  let isWoken = false;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    await deleteArchives(db, oldestArchive(clock.now()));
    for (const archive of await listOpenArchives(db)) {
      const key = `statement-archive:${archive.id}`;
      await withLease({ db, clock, key, holder: config.instanceId, log }, () => tryToMake(archive));
    }
  }

  async function tryToMake(archive: OpenArchive): Promise<void> {
    try {
      await make(archive);
    } catch (error) {
      log.error({ err: error, month: archive.month }, 'the statements of all users could not be made');
      await changeArchive(db, archive.id, { endedAt: clock.now() });
    }
  }

  /** One user after the other, in between other work. */
  async function make({ id, month }: OpenArchive): Promise<void> {
    const users = await listUsersUntil(db, monthBounds(month, config.displayTimezone).to);
    await changeArchive(db, id, { users: users.length, done: 0, incomplete: 0 });
    const zip = createZip();
    const statements: Statement[] = [];
    for (const user of users) {
      if (isStopping) return;
      const statement = await readStatement(deps, user, month);
      const name = `${fileNameOf(user)}-${month}`;
      await zip.add(`${name}.html`, statementHtml(statement));
      await zip.add(`${name}.csv`, statementCsv(statement));
      statements.push({ ...statement, lines: [] });
      const incomplete = statements.filter(({ complete }) => !complete).length;
      await changeArchive(db, id, { done: statements.length, incomplete });
    }
    await zip.add(`statements-${month}.csv`, statementsCsv(statements));
    await changeArchive(db, id, { content: zip.end(), endedAt: clock.now() });
  }

  function wake(): void {
    isWoken = true;
    if (!isStarted || isStopping || running !== null) return;
    isWoken = false;
    running = run()
      .catch((error: unknown) => log.warn({ err: error }, 'archives of statements did not go on'))
      .finally(() => {
        running = null;
        // The list may have been read before the latest request.
        if (isWoken) wake();
      });
  }

  return {
    wake,
    start() {
      isStarted = true;
      wake();
      const stopLooking = clock.every(SWEEP_MS, wake);
      return async () => {
        isStopping = true;
        stopLooking();
        await Promise.race([running, clock.sleep(STOP_LIMIT_MS)]);
      };
    },
  };
}

/** Usernames differ in characters that a file name may not have; the beginning of the id tells them apart. */
const fileNameOf = ({ id, username }: { id: string; username: string }) =>
  `${username.replace(/[^\w.@-]+/g, '_').slice(0, 60)}-${id.slice(0, 8)}`;
