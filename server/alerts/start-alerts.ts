import type { Deps } from '#server/deps.ts';
import type { Clock } from '#server/platform/clock.ts';
import { isDatabaseUnavailable } from '#server/platform/db/database-errors.ts';
import { eachInTurn } from '#server/platform/each-alone.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import { createChatAnswers } from './chat/answer-chats.ts';
import type { ReadOverview } from './chat/carry-out-command.ts';
import { summarizeDay } from './daily-summary.ts';
import { deleteOldNotices } from './delete-old-notices.ts';
import { beatHeart } from './heartbeat.ts';
import { hasNoticesToMake, makeNotices } from './make-notices.ts';
import { spanText } from './notice-text.ts';
import { createOutbox } from './send-outbox.ts';
import type { ExchangeWatch } from './watch-exchanges.ts';
import { watchFeeds } from './watch-feeds.ts';
import { watchDisk, watchInstallation } from './watch-installation.ts';

const PASS_MS = 1_000;
const WATCH_MS = 30_000;
const FEEDS_MS = 20_000;
/** How soon a bot is asked again, and how soon a switch is noticed. */
const CHATS_MS = 1_000;
const HEARTBEAT_MS = 60_000;
const CLEAN_MS = 3_600_000;
/** A blink of the database is not worth a notice. */
const AWAY_MS = 5_000;

export interface Alerts {
  /** One round of everything that is due; the timers call it, and tests. */
  makeAll(): Promise<void>;
  watchAll(): Promise<void>;
  stop(): Promise<void>;
}

/** Makes notices of events and looks for conditions, beside the engine: nothing of it is waited for. */
export function startAlerts(
  deps: Deps,
  { exchangeWatch, readOverview }: { exchangeWatch: ExchangeWatch; readOverview: ReadOverview },
): Alerts {
  const { clock, config, db, log } = deps;
  const holder = `${config.instanceId} alerts`;
  const outbox = createOutbox(deps);
  const chats = createChatAnswers(deps, { readOverview });
  const listeningSince = clock.now();
  let awaySince: Date | null = null;
  let isStopped = false;

  async function makeAll(): Promise<void> {
    if (!(await hasNoticesToMake(deps))) return;
    await withLease({ db, clock, key: 'notices', holder, log }, async (lease) => {
      while (!isStopped && (await makeNotices(deps, lease)));
    });
  }

  async function pass(): Promise<void> {
    try {
      // What was just made leaves now, not a second later; a failure keeps nothing else from its turn.
      await eachInTurn([makeAll, outbox.send, exchangeWatch.tell, tellReturn]);
    } catch (error) {
      if (isDatabaseUnavailable(error)) awaySince ??= clock.now();
      log.warn({ err: error }, 'notices could not be made');
    }
  }

  async function tellReturn(): Promise<void> {
    if (awaySince === null) return;
    const awayMs = clock.now().getTime() - awaySince.getTime();
    if (awayMs >= AWAY_MS) {
      await noteEvents(db, [
        { code: 'database_back', data: { duration: spanText(awayMs) }, at: clock.now() },
      ]);
    }
    awaySince = null;
  }

  async function watchAll(): Promise<void> {
    await watchDisk(deps).catch((error: unknown) =>
      log.warn({ err: error }, 'whether the disk is full could not be noted'),
    );
    await withLease({ db, clock, key: 'notice watch', holder, log }, () =>
      eachInTurn([() => watchInstallation(deps), () => summarizeDay(deps)]),
    );
  }

  async function watchAllFeeds(): Promise<void> {
    await withLease({ db, clock, key: 'feed watch', holder, log }, () =>
      watchFeeds(deps, { listeningSince }),
    );
  }

  /** A failure is logged, and the next round tries again. */
  const safely = (what: string, work: () => Promise<unknown>) => () =>
    work().then(
      () => undefined,
      (error: unknown) => log.warn({ err: error }, `${what} failed`),
    );

  const again = (run: () => Promise<void>, everyMs: number) => repeat(clock, run, everyMs);
  const loops = [
    again(pass, PASS_MS),
    again(safely('looking for conditions', watchAll), WATCH_MS),
    again(safely('asking for commands', chats.look), CHATS_MS),
    again(safely('looking at the feeds', watchAllFeeds), FEEDS_MS),
    again(
      safely('the heartbeat', () => beatHeart(deps)),
      HEARTBEAT_MS,
    ),
    again(
      safely('deleting old notices', () => deleteOldNotices(deps)),
      CLEAN_MS,
    ),
  ];

  return {
    makeAll,
    watchAll,
    async stop() {
      isStopped = true;
      await Promise.all([outbox.stop(), chats.stop(), ...loops.map((stop) => stop())]);
    },
  };
}

/** Runs again some time after it has ended, so that a slow run has no second one beside it. */
function repeat(clock: Clock, run: () => Promise<void>, everyMs: number): () => Promise<void> {
  let cancel = () => {};
  let running: Promise<void> | null = null;
  let isStopped = false;
  const plan = () => {
    cancel = clock.after(everyMs, () => {
      running = run().finally(() => {
        running = null;
        if (!isStopped) plan();
      });
    });
  };
  plan();
  return async () => {
    isStopped = true;
    cancel();
    await running;
  };
}
