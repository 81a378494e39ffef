import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { ExchangePlatform, TradingSettings } from '#domain/user-settings.ts';
import type { EngineDeps } from '#server/deps.ts';
import { users } from '#server/platform/db/schema.ts';
import { atExchangeCall, type DyingCall } from '#test/venues/dying-exchange.ts';
import { accountModeOf, platformOf, type SuiteDialect } from '#test/venues/exchange-suite-words.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { startTestEngine, type TestEngine, type TestEngineOptions } from './test-engine.ts';
import type { SignalFields } from './test-engine-rows.ts';
import { nextToken } from './token-holders.ts';

/** `times` for a fault that never ends. */
export const ALWAYS = Number.POSITIVE_INFINITY;

/**
 * One engine for a test file. After each test faults are removed, users are switched off and, unless `settles` is
 * false, remaining work is finished, so tests do not see each other's orders.
 */
export function sharedTestEngine({
  settles = true,
  ...options
}: TestEngineOptions & { settles?: boolean } = {}): TestEngine {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startTestEngine(options);
  });
  afterEach(async () => {
    engine.venue.setFaults([]);
    engine.venue.setContracts([]);
    await engine.db.update(users).set({ isActive: false });
    if (settles) await engine.settle();
    engine.setAccountMode('classic');
  });
  afterAll(() => engine.close());
  return new Proxy({} as TestEngine, { get: (_target, name) => Reflect.get(engine, name) as unknown });
}

/** The tests of a block trade on accounts of this kind; returns their exchange. */
export function tradingOn(engine: TestEngine, dialect: SuiteDialect): ExchangePlatform {
  beforeEach(() => engine.setAccountMode(accountModeOf(dialect)));
  return platformOf(dialect);
}

/** Stores a new user who sizes by risk, and a signal for a token that no other test uses. */
export async function storeTradedSignal(
  engine: TestEngine,
  { settings, signal }: { settings?: Partial<TradingSettings>; signal?: SignalFields } = {},
) {
  const token = signal?.token ?? nextToken();
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', ...settings });
  return { token, userId, ...(await engine.storeSignal({ price: '100', ...signal, token })) };
}

/** Like `storeTradedSignal`, with the user's order planned but not sent. The faults apply from then on. */
export async function planTrade(
  engine: TestEngine,
  {
    faults,
    ...wanted
  }: { settings?: Partial<TradingSettings>; signal?: SignalFields; faults?: VenueFault[] } = {},
) {
  const stored = await storeTradedSignal(engine, wanted);
  const trade = (await engine.plan(stored.workflowId)).find(({ userId }) => userId === stored.userId);
  if (trade === undefined) throw new Error('nothing was planned');
  if (faults !== undefined) engine.venue.setFaults(faults);
  return { ...stored, trade, plannedAt: engine.clock.now() };
}

/** Replaces all faults with these, which affect only this user. */
export function strike(engine: TestEngine, userId: string, faults: readonly VenueFault[]): void {
  engine.venue.setFaults(faults.map((fault) => ({ ...fault, on: { ...fault.on, userId } })));
}

export const entriesOf = async (engine: TestEngine, userId: string) =>
  (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => !reduceOnly);

/** Takes over a lease, as another instance does when its holder has not renewed it for half a minute. */
export async function takeOver({ db }: Pick<TestEngine, 'db'>, key: string): Promise<void> {
  await db.execute(
    sql`update leases set holder = 'successor', version = version + 1, lease_until = now() + interval '1 minute' where key = ${key}`,
  );
}

export async function giveBack({ db }: Pick<TestEngine, 'db'>, key: string): Promise<void> {
  await db.execute(sql`update leases set lease_until = '-infinity' where key = ${key}`);
}

/** Dependencies of an instance that loses this lease during a call to the exchange. */
export const overtakenAt = (
  engine: TestEngine,
  { key, call, when = 'after' }: { key: string; call: DyingCall; when?: 'before' | 'after' },
): EngineDeps => atExchangeCall(engine.deps, { call, when, happens: () => takeOver(engine, key) });

/** The database with its `transaction` method replaced. */
export function withTransaction(
  db: EngineDeps['db'],
  transaction: EngineDeps['db']['transaction'],
): EngineDeps['db'] {
  return Object.assign(Object.create(db) as EngineDeps['db'], { transaction });
}
