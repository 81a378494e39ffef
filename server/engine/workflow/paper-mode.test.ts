import { expect, test } from 'vitest';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { firstCases } from '#test/app/in-turn.ts';
import { startTestEngine, type TestEngineOptions } from '#test/app/test-engine.ts';

/** One user's path through fills, a reversal, a stop and an order that rests, as the engine records it. */
async function trade(platform: ExchangePlatform, options: TestEngineOptions) {
  const engine = await startTestEngine(options);
  try {
    const token = 'PLAY';
    const userId = await engine.createUser({
      positionSizingMethod: 'Risk Management',
      exchangePlatform: platform,
    });
    const signalIds: string[] = [];
    async function signal(action: 'buy' | 'sell', price: string) {
      await engine.storeCandle({ token, price });
      const { signalId } = await engine.storeSignal({ token, action, price });
      signalIds.push(signalId);
      await engine.settle();
      return engine.holding(userId, token, platform);
    }
    const held = [await signal('buy', '100'), await signal('sell', '100')];
    // Through the stop of the short.
    await engine.storeCandle({ token, price: '103' });
    held.push(await engine.holding(userId, token, platform), await signal('buy', '103'));

    const trades = (await Promise.all(signalIds.map((id) => engine.trades(id)))).flat();
    const timelines = await Promise.all(trades.map(async ({ id }) => (await engine.events(id)).timeline));
    const withoutIds = (text: string) => text.replaceAll(/\b[\w-]{16,}\b/g, 'id');
    return {
      held: held.map(({ position, stopLoss, takeProfit }) => ({
        side: position?.side,
        size: position?.size,
        leverage: position?.leverage,
        stopLoss,
        takeProfit,
      })),
      trades: trades.map(
        ({ state, success, fillStatus, protectionStatus, filledQuantity, averagePrice, error }) => ({
          state,
          success,
          fillStatus,
          protectionStatus,
          filledQuantity,
          averagePrice,
          error,
        }),
      ),
      timelines: timelines.map((lines) => lines.map(withoutIds)),
      orders: (await engine.exchangeOrders(userId, platform)).map(
        ({
          side,
          state,
          reduceOnly,
          marginMode,
          positionMode,
          leverage,
          filledSize,
          fee,
          presetStopLoss,
        }) => ({
          side,
          state,
          reduceOnly,
          marginMode,
          positionMode,
          leverage,
          filledSize,
          fee,
          presetStopLoss,
        }),
      ),
    };
  } finally {
    await engine.close();
  }
}

test.each(firstCases(EXCHANGE_PLATFORMS))(
  'the engine records the same in paper mode as with the real client at %s',
  async (platform) => {
    const paper = await trade(platform, { paperMode: true });
    expect(paper.held.map(({ side, stopLoss }) => [side, stopLoss])).toEqual([
      ['long', '98'],
      ['short', '102'],
      [undefined, null],
      ['long', expect.any(String)],
    ]);
    expect(paper.trades.map(({ fillStatus }) => fillStatus)).toEqual(['filled', 'filled', 'filled']);
    expect(paper).toEqual(await trade(platform, {}));
  },
);
