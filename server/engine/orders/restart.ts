import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '#server/deps.ts';
import { AppError } from '#server/platform/http/errors.ts';
import {
  announceRestart,
  finishRestart,
  RESTART_LIMIT_SECONDS,
  readRestartProgress,
} from './restart.store.ts';

const POLL_MS = 100;

/**
 * Restarts the engine of every instance on the database and waits until each runs again; joins a restart in progress.
 * Throws with the reason when an instance failed or is silent.
 */
export async function restartSystem(
  deps: Pick<Deps, 'db' | 'log'>,
  { requestedBy, limitMs = RESTART_LIMIT_SECONDS * 1_000 }: { requestedBy: string; limitMs?: number },
): Promise<{ success: true; message: string }> {
  const { db, log } = deps;
  const id = await announceRestart(db, requestedBy);
  log.info({ restartId: id, by: requestedBy }, 'restart of the position maker requested');
  const deadline = performance.now() + limitMs;
  for (;;) {
    const { awaited, answers } = await readRestartProgress(db, id);
    if (awaited.length > 0 && performance.now() < deadline) {
      await sleep(POLL_MS);
      continue;
    }
    await finishRestart(db, id);
    const silent = awaited.map((one) => `${one} has not answered in time`);
    const failed = answers.flatMap(({ instanceId, error }) =>
      error === null ? [] : [`${instanceId}: ${error}`],
    );
    const problems = [...failed, ...silent];
    if (problems.length > 0) {
      throw new AppError('unavailable', {
        message: `The restart did not succeed everywhere. ${problems.join('; ')}`,
      });
    }
    if (answers.length === 0) {
      throw new AppError('unavailable', { message: 'No position maker is running that could be restarted' });
    }
    const instances = answers.length === 1 ? 'one instance' : `${answers.length} instances`;
    return { success: true, message: `The position maker was restarted on ${instances}` };
  }
}
