import { betterPrice, type ExitState, nextExit } from '#domain/exits/next-exit.ts';
import type { PlannedExits } from '#domain/exits/plan-exits.ts';
import { plannedProtection } from '#domain/orders/protection.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { EngineDeps } from '#server/deps.ts';
import { openTradeAccount } from '#server/engine/orders/trade-account.ts';
import type { AccountReader } from '#server/engine/protection/read-account.ts';
import { addTimeline } from '#server/engine/records/trades.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { hasElapsed } from '#server/platform/clock.ts';
import { LeaseLostError, withLease } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import { closeByPlan } from './close-by-plan.ts';
import { moveByPlan } from './move-by-plan.ts';
import { beginExits } from './plan-position.ts';
import { type ExitTrade, keepBestPrices, listExitTrades, noteProblem } from './trade-exits.store.ts';

const LOOK_EVERY_MS = 1_000;
/** A step that failed, or that was decided on a stop which the exchange does not show, is decided again after this. */
const AGAIN_AFTER_MS = 10_000;
const STOP_LIMIT_MS = 3_000;
/** Shown in place of an error that is not the exchange's. */
const UNEXPECTED = 'an unexpected error, which the log tells';

/** A position whose plan has prices and quantities. */
type Watched = ExitTrade & { planned: PlannedExits; enteredAt: Date; markPrice: string; bestPrice: string };

export interface ExitWatch {
  /** Looks at the prices once and begins what is due. */
  run(): Promise<void>;
  /** Resolves when everything that was begun has ended. */
  idle(): Promise<void>;
  /** Looks every second, until the returned function is called. */
  start(): () => Promise<void>;
}

/**
 * Carries out the exit plans of open positions, whatever stops new entries: closes parts at their prices, moves stops to
 * the entry or after the price, and closes what was held long enough. The rows are the truth, so any instance goes on
 * after a crash; one looks at the prices at a time.
 */
export function createExitWatch(deps: EngineDeps, reader: AccountReader): ExitWatch {
  const { db, clock, log } = deps;
  const isPaper = deps.config.exchangeMode === 'paper';
  /** Steps at work, by trade: a slow one holds up no other position. */
  const atWork = new Map<string, Promise<void>>();
  /** Open positions whose step failed or moved a stop: since when they wait, and why it failed. */
  const waiting = new Map<string, { since: Date; problem: string | null }>();

  async function run(): Promise<void> {
    const mode = deps.config.exchangeMode;
    const trades = await listExitTrades(db, { mode });
    const open = new Set(trades.map(({ trade }) => trade.id));
    for (const id of waiting.keys()) if (!open.has(id) && !atWork.has(id)) waiting.delete(id);
    if (trades.length === 0) return;
    const lease = { db, clock, key: 'exits:look', holder: deps.config.instanceId, log };
    await withLease(lease, async () => {
      const watched = await addPrices(trades.filter(({ trade }) => !atWork.has(trade.id)));
      await keepBestPrices(
        db,
        watched
          .filter(({ planned, exits, bestPrice }) => planned.trail !== null && exits.bestPrice !== bestPrice)
          .map(({ trade, bestPrice }) => ({ tradeId: trade.id, price: bestPrice })),
      );
      await Promise.all(watched.map(begin));
    });
  }

  /** With the mark prices: those of an exchange that does not answer are left out. */
  async function addPrices(trades: readonly ExitTrade[]): Promise<Watched[]> {
    const isBegun = ({ exits }: ExitTrade) => exits.planned !== null;
    for (const one of trades) if (!isBegun(one)) beginOne(one);
    // A user's own signals are prices only to that user in paper mode.
    const groups = Map.groupBy(trades.filter(isBegun), ({ trade }) =>
      isPaper ? `${trade.exchangePlatform} ${trade.userId}` : trade.exchangePlatform,
    );
    const priced = await Promise.all([...groups.values()].map(readPrices));
    return priced.flat();
  }

  /** The plan of a new position is written down first, beside the looks: reading a thousand of them takes a while. */
  function beginOne(one: ExitTrade): void {
    const { id } = one.trade;
    if (isWaiting(id)) return;
    const beginning = alone(one, async () => {
      // The end of a position is recorded elsewhere: until then what is not there is not read every second.
      if ((await beginExits(deps, one)) === 'gone') wait(id);
    });
    setToWork(id, beginning);
  }

  function setToWork(tradeId: string, work: Promise<unknown>): void {
    const ending = work.then(() => void atWork.delete(tradeId));
    atWork.set(tradeId, ending);
  }

  async function readPrices(group: readonly ExitTrade[]): Promise<Watched[]> {
    const [first] = group;
    const platform = deps.exchanges.supported.find((name) => name === first?.trade.exchangePlatform);
    if (first === undefined || platform === undefined) return [];
    const tokens = [...new Set(group.map(({ trade }) => trade.token))];
    const prices = await deps.exchanges
      .get(platform)
      // Before the moves of the last look, which may be a thousand.
      .fetchMarkPrices(tokens, {
        priority: 'protect',
        ...(isPaper && { viewerUserId: first.trade.userId }),
      })
      .catch((error: unknown) => {
        const level = error instanceof ExchangeError ? 'debug' : 'error';
        log[level]({ err: error, platform }, 'mark prices could not be read');
        return new Map<string, string>();
      });
    const priced = await Promise.all(
      group.map((one) => alone(one, async () => withPrice(one, prices.get(one.trade.token)))),
    );
    return priced.filter((one) => one !== null);
  }

  function withPrice(one: ExitTrade, markPrice: string | undefined): Watched | null {
    const { planned, enteredAt, bestPrice: best } = one.exits;
    if (planned === null || enteredAt === null || markPrice === undefined) return null;
    const bestPrice = betterPrice(sideOpenedBy(one.trade.side), markPrice, best);
    return { ...one, planned, enteredAt, markPrice, bestPrice };
  }

  async function begin(one: Watched): Promise<void> {
    const { trade } = one;
    if (atWork.has(trade.id) || isWaiting(trade.id)) return;
    const next = await alone(one, async () => nextExit(stateOf(one)));
    if (next === null) return;
    const work = carryOut(one, async () => {
      const { account, problem } = await openTradeAccount(deps, trade);
      if (account === null) return problem ?? 'its account is not known';
      if (next.kind === 'move') {
        // Also where nothing is moved: what the exchange shows is not read every second.
        wait(trade.id);
        return await moveByPlan(deps, {
          trade,
          account,
          again: ({ stopLoss, markPrice }) =>
            nextExit({ ...stateOf(one), stopLoss, markPrice: markPrice ?? one.markPrice }),
        });
      }
      const key = { userId: trade.userId, exchangePlatform: trade.exchangePlatform };
      const failure = await closeByPlan(deps, { trade, exits: one.exits, account, close: next });
      // Records the end of a position, with the exchange's figures.
      reader.forget(key);
      await reader.read(key, 0).catch(() => undefined);
      return failure;
    });
    setToWork(trade.id, work);
  }

  const stateOf = ({ trade, exits, movedAt, isBreakEvenDone, ...one }: Watched): ExitState => ({
    side: sideOpenedBy(trade.side),
    exits: one.planned,
    enteredAt: one.enteredAt,
    now: clock.now(),
    markPrice: one.markPrice,
    bestPrice: one.bestPrice,
    partsDone: exits.partsDone,
    isBreakEvenDone,
    stopLoss: plannedProtection(trade).stopLoss,
    movedAt,
  });

  function isWaiting(tradeId: string): boolean {
    const since = waiting.get(tradeId)?.since;
    return since !== undefined && !hasElapsed({ since, ms: AGAIN_AFTER_MS, now: clock.now() });
  }

  function wait(tradeId: string, problem = waiting.get(tradeId)?.problem ?? null): void {
    waiting.set(tradeId, { since: clock.now(), problem });
  }

  /** Notes the clause that the work answers when it could not be done. */
  async function carryOut(one: ExitTrade, work: () => Promise<string | null>): Promise<void> {
    const result = await alone(one, async () => ({ problem: await work() }));
    if (result === null) return;
    if (result.problem !== null) return await noteFailure(one, { problem: result.problem });
    const { id: tradeId, userId, token } = one.trade;
    const before = waiting.get(tradeId);
    if (before === undefined || before.problem === null) return;
    waiting.set(tradeId, { ...before, problem: null });
    log.info({ tradeId, userId, token, problem: before.problem }, 'a step of an exit plan fails no longer');
  }

  /** One position's failure stops no other (I8): it is noted there, and the result is null. */
  async function alone<Result>(one: ExitTrade, work: () => Promise<Result>): Promise<Result | null> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof LeaseLostError) wait(one.trade.id);
      else
        await noteFailure(one, {
          problem: error instanceof ExchangeError ? error.message : UNEXPECTED,
          error,
        });
      return null;
    }
  }

  /** A problem that lasts is logged and reported when it begins and when it changes. */
  async function noteFailure(
    { trade, exits }: ExitTrade,
    { problem, error }: { problem: string; error?: unknown },
  ): Promise<void> {
    const { id: tradeId, userId, token } = trade;
    const at = clock.now();
    const isKnown = waiting.get(tradeId)?.problem === problem;
    wait(tradeId, problem);
    if (!isKnown) {
      const level = problem === UNEXPECTED ? 'error' : 'warn';
      const about = { tradeId, userId, token, problem };
      log[level]({ ...about, err: error }, 'a step of an exit plan failed, it is tried again');
    }
    const text = `Exit plan: not done yet, it is tried again: ${problem}`;
    const data = { what: 'exit plan', reason: problem };
    try {
      await db.transaction(async (tx) => {
        if (!(await noteProblem(tx, exits, problem))) return;
        await addTimeline(tx, { tradeId, at, text });
        await noteEvents(tx, [{ code: 'exit_not_done', userId, tradeId, data, at }]);
      });
    } catch (failure) {
      log.error({ err: failure, tradeId, userId, token }, 'the problem of an exit plan was not written down');
    }
  }

  async function idle(): Promise<void> {
    while (atWork.size > 0) await Promise.all(atWork.values());
  }

  return {
    run,
    idle,
    start() {
      let looking: Promise<void> | null = null;
      const stop = clock.every(LOOK_EVERY_MS, () => {
        looking ??= run()
          .catch((error: unknown) => log.warn({ err: error }, 'exit plans could not be looked at'))
          .finally(() => {
            looking = null;
          });
      });
      return async () => {
        stop();
        const ended = Promise.resolve(looking).then(idle);
        await Promise.race([ended, clock.sleep(STOP_LIMIT_MS)]);
      };
    },
  };
}
