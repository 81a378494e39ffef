import { and, eq, lt, ne, sql } from 'drizzle-orm';
import { D, floorToStep, toPlain } from '#domain/decimal.ts';
import { type AttemptState, isTerminal } from '#domain/orders/order-lifecycle.ts';
import { alignment, leverageFor } from '#domain/sizing/trend.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { EngineDeps } from '#server/deps.ts';
import { listOrdersInDoubt } from '#server/engine/orders/write-off.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import {
  paperAccounts,
  paperPositions,
  paperTokenSettings,
  paperTriggerOrders,
} from '#server/exchanges/paper/paper-schema.ts';
import type { Db } from '#server/platform/db/database.ts';
import { orderAttempts, trades } from '#server/platform/db/schema.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import type { VenueContract } from '#test/venues/contracts.ts';
import { accountModeOf, platformOf, type SuiteDialect } from '#test/venues/exchange-suite-words.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import type { VenueRequest } from '#test/venues/http.ts';
import { type Agenda, startTestEngine, type TestEngine, type TestEngineOptions } from '../app/test-engine.ts';
import { type ExchangeWatch, watchExchange } from './exchange-watch.ts';
import { type ExitSignal, type Exits, exitEvents, recordEnds, writePlan } from './exits.ts';
import type { ChosenFaults, MatrixClock, MatrixContract, MatrixStep, Waits } from './matrix-faults.ts';
import type { PlayedRun } from './oracle.ts';
import type { Scenario } from './scenario.ts';

export interface Played extends PlayedRun {
  watch: ExchangeWatch;
  died: boolean;
  /** The machine was so busy that an answer may have been late without a fault. */
  wasSlow: boolean;
}

export interface Play extends ChosenFaults {
  exchange: SuiteDialect;
  scenario: Scenario;
  /** What comes after the entry, and the struck user's faults from then on. */
  exits: Exits | null;
  exitFaults: VenueFault[];
  /** The number of the statement or request at which the process dies; null: it survives. */
  diesAt: number | null;
  /** The same, counted from the beginning of what comes after the entry. */
  diesInExits: number | null;
}

/** An engine that plays runs sequentially. */
export interface Stage {
  engine: TestEngine;
  play(play: Play): Promise<Played>;
  close(): Promise<void>;
}

const MOST_ROUNDS = 3_000;
const LATE_MS = 60_000;
/** Over a socket no answer takes this time; in process it takes none. A slow answer must not count as lost. */
const TIMEOUT_MS = { overHttp: 1_500, inProcess: 30_000 };

const SHORT_WAITS = { verifyFirstMs: 300, verifySecondMs: 300, cancelDelayMs: 100 };

export async function openStage({
  waits = 'default',
  ...options
}: Pick<TestEngineOptions, 'createDatabase' | 'overHttp'> & { waits?: Waits } = {}): Promise<Stage> {
  const exchangeTimeoutMs = options.overHttp ? TIMEOUT_MS.overHttp : TIMEOUT_MS.inProcess;
  let beforeRequest = async (_request: VenueRequest) => {};
  let afterRequest = async (_request: VenueRequest) => {};
  const engine = await startTestEngine({
    ...options,
    config: { exchangeTimeoutMs, ...(waits === 'short' ? SHORT_WAITS : {}) },
    watch: { before: (request) => beforeRequest(request), after: (request) => afterRequest(request) },
  });

  return {
    engine,
    async play({ exchange: dialect, scenario, faults, exits, exitFaults, ...chosen }) {
      await emptyDatabase(engine.db);
      const exchange = platformOf(dialect);
      engine.setAccountMode(accountModeOf(dialect));
      const clocks = createClocks(engine);
      clocks.setAhead(chosen.clock?.fromMs === 0 ? chosen.clock.aheadMs : 0);
      const { hasUnreadable } = chosen;
      const contracts = contractsOf({ exchange, scenario, ...chosen });
      const watch = watchExchange({ db: engine.db, clock: clocks.real, aheadMs: clocks.aheadMs });
      const userIds: string[] = [];
      for (const { settings } of scenario.users) {
        userIds.push(await engine.createUser({ ...settings, exchangePlatform: exchange }));
      }
      await openAccounts(engine, { exchange, scenario, userIds, faults, hasUnreadable });
      const struckId = userIds[scenario.struck] ?? '';
      const { token } = scenario;
      await engine.storeCandle({ token, ...scenario.candle });
      // After the candle: the exchange lists what has a price, and its list is remembered.
      await setContracts(engine, exchange, contracts);
      await writePlan(engine, exits);
      const { action, price } = scenario;
      const exitSignals: ExitSignal[] = [];
      let livingDeps = engine.deps;
      const signals = [await engine.storeSignal({ token, action, price })];
      const strike = (all: VenueFault[]) =>
        engine.venue.setFaults(all.map((fault) => ({ ...fault, on: { ...fault.on, userId: struckId } })));
      strike(faults);
      function beginExits(): void {
        if (exits?.kind !== 'overtake') watch.stopCounting();
        if (exitFaults.length > 0) strike([...faults.filter(isLasting), ...exitFaults]);
      }

      const closeContract = () =>
        setContracts(
          engine,
          exchange,
          contracts.map((one) => closing(one, scenario)),
        );
      const contradicts = faults.some(({ kind }) => kind === 'contradictoryLookUps');
      const world = createWorld({
        engine,
        scenario,
        watch,
        signals,
        ...chosen,
        closeContract,
        struckId,
        contradicts,
        clocks,
        exits,
        exitSignals,
        livingDeps: () => livingDeps,
        beginExits,
      });
      const moves = scenario.moves.flatMap(({ when, price: next }) =>
        'orderOf' in when ? [{ wave: waveOf(when.orderOf), move: once(() => world.move(next)) }] : [],
      );
      const startedMs = new Map<VenueRequest, number>();
      let slowestMs = 0;
      beforeRequest = async (request) => {
        startedMs.set(request, performance.now());
        if (!isPlacement(request)) return;
        const wave = waveOf(userIds.indexOf(userOf(request) ?? ''));
        await Promise.all(moves.map((one) => (one.wave === wave ? one.move() : undefined)));
      };
      afterRequest = async (request) => {
        await watch.sawRequest(request);
        slowestMs = Math.max(slowestMs, performance.now() - (startedMs.get(request) ?? 0));
      };
      let died = false;
      const { diesInExits } = chosen;
      const diesAt = diesInExits ?? chosen.diesAt;
      if (diesInExits !== null) await engine.settle({ maxRounds: MOST_ROUNDS, agenda: world.untilExits });
      if (diesAt !== null) {
        const mortal = engine.mortal(diesAt);
        livingDeps = mortal.deps;
        await mortal.live({ maxRounds: MOST_ROUNDS, agenda: world.agenda });
        died = mortal.point.isDead();
        await mortal.bury();
        livingDeps = engine.deps;
        await world.agenda.run();
        await engine.restart();
      }
      await engine.settle({ maxRounds: MOST_ROUNDS, agenda: world.agenda });
      engine.venue.setFaults([]);
      if (contracts.length > 0) await setContracts(engine, exchange, []);
      // Let late fills and orders of the exchange arrive.
      engine.clock.advance(LATE_MS);
      await engine.venue.settle(token);
      await watch.look();
      if (exits !== null) await recordEnds(engine, { userIds, exchangePlatform: exchange });
      const wasSlow = slowestMs > exchangeTimeoutMs / 3;
      const ends = { exits: exitSignals, hasExits: exits !== null, isApart: chosen.clock !== null };
      return { token, userIds, signals, ...ends, watch, hiddenOrders: world.hiddenOrders, died, wasSlow };
    },
    close: () => engine.close(),
  };
}

/** Conditions of the whole run, which what comes after the entry meets as well. */
const isLasting = ({ kind, on }: VenueFault) =>
  (on?.times ?? 1) > 100 || ['staleLookUps', 'contradictoryLookUps'].includes(kind);

type Clocks = ReturnType<typeof createClocks>;

/** The machine's clock may step; real time, the exchange's clock and the moments of a run go on steadily. */
function createClocks({ clock, setVenueAhead }: Pick<TestEngine, 'clock' | 'setVenueAhead'>) {
  let steppedMs = 0;
  let exchangeAheadMs = 0;
  const set = () => setVenueAhead(exchangeAheadMs - steppedMs);
  return {
    real: { now: () => new Date(clock.now().getTime() - steppedMs) },
    /** When the machine's clock shows this moment. */
    shownAt: (realMs: number) => new Date(realMs + steppedMs),
    aheadMs: () => exchangeAheadMs,
    setAhead(ms: number) {
      exchangeAheadMs = ms;
      set();
    },
    step(byMs: number) {
      clock.advance(byMs);
      steppedMs += byMs;
      set();
    },
  };
}

export function userOf({ headers }: VenueRequest): string | null {
  const key = headers['access-key'] ?? headers['x-bapi-api-key'];
  return key === undefined ? null : key.replace(/^paper-/, '');
}

/** The first user is traded before all others, who are traded side by side. */
const waveOf = (index: number) => Math.min(index, 1);

/** Every caller waits for the same run. */
function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= run();
    return running;
  };
}

const isPlacement = ({ path }: VenueRequest) => /\/(place-order|order\/create)$/.test(path);

/** Events outside the engine at given times: price moves, a second signal, the end of faults. */
function createWorld(options: {
  engine: TestEngine;
  scenario: Scenario;
  watch: ExchangeWatch;
  signals: PlayedRun['signals'];
  liftedAfterMs: number | null;
  contract: MatrixContract | null;
  stopLostAfterMs: number | null;
  closeContract: () => Promise<void>;
  clock: MatrixClock | null;
  steps: MatrixStep[];
  clocks: Clocks;
  struckId: string;
  /** Look-ups contradict the order, so it must be shown as in doubt. */
  contradicts: boolean;
  exits: Exits | null;
  exitSignals: ExitSignal[];
  livingDeps: () => EngineDeps;
  beginExits: () => void;
}) {
  const { engine, scenario, watch, signals, liftedAfterMs, contract, stopLostAfterMs, struckId } = options;
  const { contradicts, clocks } = options;
  const { token, moves, oppositeAfterMs } = scenario;
  const startMs = clocks.real.now().getTime();
  const hiddenOrders: string[] = [];
  let hasBegun = false;
  let price = scenario.price;

  async function move(next: string): Promise<void> {
    price = next;
    await engine.storeCandle({ ...scenario.candle, token, price });
  }
  async function signalOpposite(): Promise<void> {
    const action = scenario.action === 'buy' ? 'sell' : 'buy';
    signals.push(await engine.storeSignal({ token, action, price }));
  }
  async function lift(): Promise<void> {
    if (contradicts) hiddenOrders.push(...(await listHidden(engine)));
    engine.venue.setFaults([]);
  }
  async function loseStop(): Promise<void> {
    const stops = and(eq(paperTriggerOrders.userId, struckId), eq(paperTriggerOrders.planType, 'pos_loss'));
    const { token: lost } = scenario;
    const own = and(stops, eq(paperTriggerOrders.token, lost), eq(paperTriggerOrders.state, 'live'));
    await engine.db.update(paperTriggerOrders).set({ state: 'cancelled' }).where(own);
  }
  async function audit(): Promise<void> {
    const key = { db: engine.db, key: 'protection:audit', holder: 'matrix' };
    await withLease(key, (lease) => createProtectionAudit(engine.deps).run(lease));
  }
  const at = (afterMs: number | null, happen: () => Promise<void>) =>
    afterMs === null ? [] : [{ atMs: startMs + afterMs, happen }];
  const plan = moves
    .flatMap(({ when, price: next }) =>
      'afterMs' in when ? [{ atMs: startMs + when.afterMs, happen: () => move(next) }] : [],
    )
    .concat(oppositeAfterMs === null ? [] : [{ atMs: startMs + oppositeAfterMs, happen: signalOpposite }])
    .concat(at(liftedAfterMs, lift))
    .concat(at(contract?.closesAfterMs ?? null, options.closeContract))
    .concat(at(options.clock?.fromMs ?? null, async () => clocks.setAhead(options.clock?.aheadMs ?? 0)))
    .concat(options.steps.flatMap(({ byMs, afterMs }) => at(afterMs, async () => clocks.step(byMs))))
    .concat(at(stopLostAfterMs, loseStop))
    .concat(stopLostAfterMs === null ? [] : [1_000, 31_000].flatMap((ms) => at(stopLostAfterMs + ms, audit)))
    .concat(
      exitEvents(options.exits, {
        engine,
        scenario,
        signals: options.exitSignals,
        liftedAfterMs,
        deps: options.livingDeps,
        price: () => price,
        move,
        begin() {
          hasBegun = true;
          options.beginExits();
        },
      }).flatMap(({ afterMs, happen }) => at(afterMs, happen)),
    )
    .sort((one, other) => one.atMs - other.atMs);

  // A process may die during an event; the next process waits until it has finished.
  let running = Promise.resolve();
  const agenda: Agenda = {
    nextAt: () => (plan[0] === undefined ? null : clocks.shownAt(plan[0].atMs)),
    run() {
      running = running.then(async () => {
        for (;;) {
          const [next] = plan;
          if (next === undefined || next.atMs > clocks.real.now().getTime()) return;
          await next.happen();
          plan.shift();
          await watch.look();
        }
      });
      return running;
    },
    onRound: () => watch.look(),
  };
  /** Ends with the beginning of what comes after the entry. */
  const untilExits: Agenda = { ...agenda, nextAt: () => (hasBegun ? null : agenda.nextAt()) };
  return { agenda, untilExits, move, hiddenOrders };
}

/** An order that is not settled then is in doubt: after 90 s without a readable look-up, which are 30 s apart by then. */
const SHOWN_WITHIN_MS = 130_000;

/** Orders that have not ended for long and that no administrator sees. */
async function listHidden({ clock, db, deps }: TestEngine): Promise<string[]> {
  const shown = new Set((await listOrdersInDoubt(deps)).map(({ tradeId }) => tradeId));
  const latest = new Date(clock.now().getTime() - SHOWN_WITHIN_MS);
  const open = await db
    .select({ tradeId: trades.id, userId: trades.userId, state: orderAttempts.state })
    .from(orderAttempts)
    .innerJoin(trades, eq(trades.id, orderAttempts.tradeId))
    .where(and(ne(trades.state, 'done'), lt(orderAttempts.submittedAt, latest)));
  return open
    .filter(({ state, tradeId }) => !isTerminal(state as AttemptState) && !shown.has(tradeId))
    .map(({ state, userId }) => `the order of ${userId} is ${state}, and not shown as in doubt`);
}

/** Deletes all rows, so the next run finds nothing of the last one. */
async function emptyDatabase(db: Db): Promise<void> {
  const { rows } = await db.execute<{ name: string }>(
    sql`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  await db.transaction(async (tx) => {
    // Disables foreign keys and triggers, because the tables come in any order.
    await tx.execute(sql`set local session_replication_role = replica`);
    for (const { name } of rows) await tx.execute(sql.raw(`delete from ${name}`));
  });
}

/** A token that no scenario trades, and the struck user holds. */
const OTHER_TOKEN = 'LINK';

function contractsOf(of: {
  exchange: ExchangePlatform;
  scenario: Scenario;
  contract: MatrixContract | null;
  hasUnreadable: boolean;
}): VenueContract[] {
  const { exchange: platform, scenario, contract, hasUnreadable } = of;
  const { token, price } = scenario;
  const { quantityStep } = paperContract(token, platform);
  const quantityOf = (notional: number | null) =>
    notional === null ? undefined : toPlain(floorToStep(D(notional).div(price), quantityStep));
  const [limit, market] = [contract?.largestOrder ?? null, contract?.largestMarketOrder ?? null].map(
    quantityOf,
  );
  return [
    ...(contract === null
      ? []
      : [
          {
            platform,
            token,
            ...(limit === undefined ? {} : { maximumQuantity: limit }),
            ...(market === undefined ? {} : { maximumMarketQuantity: market }),
          },
        ]),
    ...(hasUnreadable ? [{ platform, token: OTHER_TOKEN, isSizeMissing: true }] : []),
  ];
}

const CLOSE_ONLY: Record<ExchangePlatform, string> = { Bitget: 'limit_open', Bybit: 'Delivering' };

const closing = (contract: VenueContract, { token }: Scenario): VenueContract =>
  contract.token === token ? { ...contract, status: CLOSE_ONLY[contract.platform] } : contract;

/** The exchange changes its contracts, and the program reads the list again. */
async function setContracts(
  engine: TestEngine,
  exchange: ExchangePlatform,
  contracts: VenueContract[],
): Promise<void> {
  engine.venue.setContracts(contracts);
  await engine.deps.exchanges.get(exchange).fetchContract('NOSUCHTOKEN');
}

/** A leverage that no order here uses. */
const OTHER_LEVERAGE = 3;

/** Creates the accounts of users who have traded before, as an earlier order left them. */
async function openAccounts(
  engine: TestEngine,
  run: {
    exchange: ExchangePlatform;
    scenario: Scenario;
    userIds: string[];
    faults: VenueFault[];
    hasUnreadable: boolean;
  },
): Promise<void> {
  const { exchange: platform, scenario, userIds, faults, hasUnreadable } = run;
  const { token, action, candle, struck, users } = scenario;
  const { matureTrend } = candle;
  const { aligned } = alignment({ action, immediateTrend: null, matureTrend });
  // A leverage fault occurs only when the leverage has to be set.
  const strikesLeverage = faults.some(({ kind }) => kind.startsWith('leverage'));
  for (const [index, userId] of userIds.entries()) {
    const mustBeSet = index === struck && strikesLeverage;
    const holdsOther = index === struck && hasUnreadable;
    if (holdsOther) await holdOther(engine, { userId, platform });
    if (!users[index]?.tradedBefore && !mustBeSet && !holdsOther) continue;
    await engine.db.insert(paperAccounts).values({
      userId,
      platform,
      balance: engine.deps.config.paperBalance,
      positionMode: 'one_way_mode',
      marginMode: platform === 'Bybit' ? 'isolated' : null,
      openedAt: engine.clock.now(),
    });
    await engine.db.insert(paperTokenSettings).values({
      userId,
      platform,
      token,
      leverage: mustBeSet ? OTHER_LEVERAGE : leverageFor(aligned),
      marginMode: 'isolated',
    });
  }
}

/** A position with its stop that the user opened without this product. */
async function holdOther(
  engine: TestEngine,
  { userId, platform }: { userId: string; platform: ExchangePlatform },
): Promise<void> {
  const at = engine.clock.now();
  const of = { userId, platform, token: OTHER_TOKEN };
  await engine.storeCandle({ token: OTHER_TOKEN, price: '15' });
  await engine.db.insert(paperPositions).values({
    ...of,
    side: 'long',
    size: '1',
    entryPrice: '15',
    margin: '3',
    leverage: 5,
    marginMode: 'isolated',
    openedAt: at,
    updatedAt: at,
  });
  await engine.db.insert(paperTriggerOrders).values({
    ...of,
    clientOrderId: `other-${userId.slice(0, 8)}`,
    planType: 'pos_loss',
    holdSide: 'long',
    triggerPrice: '1',
    size: '1',
    state: 'live',
    createdAt: at,
    updatedAt: at,
  });
}
