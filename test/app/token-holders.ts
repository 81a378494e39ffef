import { expect } from 'vitest';
import { EXCHANGE_PLATFORMS, type ExchangePlatform, type TradingSettings } from '#domain/user-settings.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { TestEngine } from './test-engine.ts';

/* Users with a position in a token, and the outcome of the next signal for them. */

let count = 0;

/** A token that no other test uses. */
export function nextToken(): string {
  count += 1;
  return `H${count}`;
}

/** Creates a user with a long position opened by this product at 100; at Bitget by default. */
export async function withLong(engine: TestEngine, settings: Partial<TradingSettings> = {}) {
  const token = nextToken();
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', ...settings });
  const { signalId } = await engine.storeSignal({ token, price: '100' });
  await engine.settle();
  const platform = EXCHANGE_PLATFORMS.find((one) => one === settings.exchangePlatform);
  const { position } = await engine.holding(userId, token, platform);
  expect(position).toMatchObject({ side: 'long' });
  const trade = (await engine.trades(signalId)).find((one) => one.userId === userId);
  if (trade === undefined) throw new Error('no trade');
  return { userId, token, trade };
}

export async function oppositeSignal(engine: TestEngine, token: string) {
  return await engine.storeSignal({ token, price: '100', action: 'sell' });
}

/** Closes the position at the exchange without the product, as its user could. */
export async function flatten(
  engine: TestEngine,
  held: { userId: string; token: string; platform?: ExchangePlatform },
): Promise<void> {
  const { userId, token, platform = 'Bitget' } = held;
  const account = await engine.deps.findAccount(userId, platform);
  const { position } = await engine.holding(userId, token, platform);
  if (account === null || position === null) throw new Error('nothing to close');
  await engine.deps.exchanges.get(platform).closePosition(
    account,
    {
      token,
      side: position.side === 'long' ? 'long' : 'short',
      quantity: position.size,
      clientOrderId: timeOrderedId().replaceAll('-', ''),
    },
    { notAfter: new Date(engine.clock.now().getTime() + 60_000) },
  );
}

/** The user opens a long position at the exchange without this product; of 1 at Bitget by default. */
export async function openLongByHand(
  engine: TestEngine,
  held: { userId: string; token: string; platform?: ExchangePlatform; quantity?: string },
): Promise<void> {
  const { userId, token, platform = 'Bitget', quantity = '1' } = held;
  const account = await engine.deps.findAccount(userId, platform);
  if (account === null) throw new Error('no account');
  const exchange = engine.deps.exchanges.get(platform);
  await exchange.prepareAccount(account, { token, leverage: 5 });
  const placement = await exchange.placeOrder(
    account,
    {
      token,
      side: 'buy',
      clientOrderId: timeOrderedId().replaceAll('-', ''),
      price: '110',
      quantity,
      leverage: 5,
      stopLoss: '50',
      takeProfit: '150',
    },
    { notAfter: new Date(engine.clock.now().getTime() + 60_000) },
  );
  expect(placement.outcome).toBe('placed');
}

export const ledgerOf = async (engine: TestEngine, userId: string) =>
  (await engine.exchangeOrders(userId)).map(({ side, reduceOnly, state }) => [side, reduceOnly, state]);

/** The reason why the workflow did not trade for the user; null when there is none. */
export async function reasonFor(
  engine: TestEngine,
  { workflowId, userId }: { workflowId: string; userId: string },
): Promise<string | null> {
  const steps = await engine.steps(workflowId);
  return steps.find((step) => step.userId === userId && step.errorMessage !== null)?.errorMessage ?? null;
}
