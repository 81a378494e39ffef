import { and, eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { D, type Decimal } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { bitgetTrader, bybitTrader, type TestTrader } from '#test/app/test-trader.ts';
import { paperLedger } from '#test/venues/paper-ledger.ts';
import { createFaults, immediateSize, type VenueFault, type VenueFaultKind } from './faults.ts';
import { listenVenue } from './server.ts';
import { SECRET_KEY, venueUnderTest } from './venue-under-test.ts';

const TRADERS = { Bitget: bitgetTrader, Bybit: bybitTrader };
const STEP: Record<ExchangePlatform, string> = { Bitget: '0.0001', Bybit: '0.001' };
/** The exchanges' codes for the same refusals. */
const CODES = {
  balance: { Bitget: '40762', Bybit: '110007' },
  leverage: { Bitget: '45045', Bybit: '110013' },
  wrongKey: { Bitget: '40006', Bybit: '10003' },
  clock: { Bitget: '40008', Bybit: '10002' },
  tooMany: { Bitget: '429', Bybit: '10006' },
  parameter: { Bitget: '40020', Bybit: '10001' },
} as const;

const under = venueUnderTest();
const ledger = () => paperLedger(under.db);

describe('requests that a fault affects', () => {
  const request = (changes: Partial<Parameters<ReturnType<typeof createFaults>['strike']>[0]> = {}) => ({
    path: '/v5/order/create',
    platform: 'Bybit' as const,
    operations: ['place-order'] as const,
    userId: 'u',
    ...changes,
  });
  const hits = (fault: VenueFault, ...requests: ReturnType<typeof request>[]) => {
    const faults = createFaults([fault]);
    return requests.map((one) => faults.strike(one).find(fault.kind) !== null);
  };

  test('match an operation in every dialect', () => {
    const fault: VenueFault = { kind: 'empty200', on: { operation: 'place-order', times: 9 } };
    const bitget = request({ path: '/api/v2/mix/order/place-order', platform: 'Bitget' });
    expect(hits(fault, request(), bitget, request({ operations: ['close-position'] }))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('match a platform, a user and a count from the nth on', () => {
    const on = { platform: 'Bybit', userId: 'u', nth: 2, times: 2 } as const;
    const others = [request({ platform: 'Bitget' }), request({ userId: 'v' })];
    expect(hits({ kind: 'html200', on }, ...others, ...Array(4).fill(request()))).toEqual([
      false,
      false,
      false,
      true,
      true,
      false,
    ]);
  });

  test('match the operation of the kind; conditions last', () => {
    const balance = request({ operations: ['balance'], path: '/v5/account/wallet-balance' });
    expect(hits({ kind: 'restFirst' }, balance, request(), request())).toEqual([false, true, false]);
    expect(hits({ kind: 'wrongKey' }, balance, request(), request({ userId: null }))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('unknown faults affect nothing and break nothing', async () => {
    const odd = [
      { kind: 'noSuchKind' },
      { kind: 'empty200', on: { operation: 'no-such-operation' } },
      { kind: 'partialFill', fraction: 'a lot' },
      { kind: 'delay', delayMs: 'soon' },
      { kind: 'clockOff', offsetMs: 'much' },
      { kind: 'leverageDiffers', leverage: 'some' },
      { kind: 'stopDropped', when: 'whenever' },
    ] as unknown as VenueFault[];
    for (const platform of ['Bitget', 'Bybit'] as const) {
      under.venue.setFaults(odd);
      const trader = await traderOn(platform);
      expect(await trader.setLeverage(7)).toMatchObject({ ok: true });
      expect(await trader.enter({ id: `odd-${platform}` })).toMatchObject({ ok: true });
    }
  });
});

describe('the part that fills immediately', () => {
  const fills = (size: string, step: string, ...kinds: VenueFaultKind[]) => {
    const struck = createFaults(kinds).strike({
      path: '',
      platform: 'Bitget',
      operations: ['place-order'],
      userId: 'u',
    });
    return (immediateSize(struck)(D(size), D(step)) as Decimal).toFixed();
  };

  test.each([
    ['0.01', '0.0001'],
    ['0.5', '0.005'],
    ['0.99', '0.0099'],
    ['0', '0'],
    ['1', '0.01'],
    ['2', '0.01'],
    ['one step', '0.0001'],
    ['all but one step', '0.0099'],
  ])('a fraction of %s', (fraction, size) => {
    expect(fills('0.01', '0.0001', { kind: 'partialFill', fraction })).toBe(size);
  });

  test('is at least one step and never all', () => {
    expect(fills('0.01', '0.001', { kind: 'partialFill', fraction: '0.01' })).toBe('0.001');
    expect(fills('0.01', '0.001', { kind: 'partialFill', fraction: '0.99' })).toBe('0.009');
  });
});

async function traderOn(platform: ExchangePlatform): Promise<TestTrader> {
  const { venue, userId, clock } = under;
  const trader = TRADERS[platform]({ venue, userId, secretKey: SECRET_KEY, now: () => clock.now() });
  await trader.prepare();
  return trader;
}

describe.each(['Bitget', 'Bybit'] as const)('%s', (platform) => {
  let trader: TestTrader;
  beforeEach(async () => {
    trader = await traderOn(platform);
  });

  const fault = (...faults: VenueFault[]) => under.venue.setFaults(faults);
  const states = async () =>
    (await ledger().exchangeOrders(under.userId, platform)).map(({ state, filledSize }) => [
      state,
      D(filledSize).toFixed(),
    ]);
  const holding = () => ledger().holding(under.userId, 'BTC', platform);

  test('truncates a body to half of the answer', async () => {
    fault({ kind: 'truncatedBody' });
    const { response } = await trader.balance();
    expect(response.delivery).toBe('truncated');
    expect(() => JSON.parse(response.body)).toThrow(SyntaxError);
  });

  test('reports too many requests with the time to retry', async () => {
    fault({ kind: 'tooManyRequests', retryAfterMs: 2_000 });
    const { code, response } = await trader.balance();
    expect(code).toBe(CODES.tooMany[platform]);
    const until = String(under.clock.now().getTime() + 2_000);
    const told =
      platform === 'Bybit'
        ? response.headers['x-bapi-limit-reset-timestamp']
        : response.headers['retry-after'];
    expect(told).toBe(platform === 'Bybit' ? until : '2');
  });

  test('refuses a wrong key until it is right again', async () => {
    fault({ kind: 'wrongKey' });
    expect((await trader.balance()).code).toBe(CODES.wrongKey[platform]);
    expect((await trader.enter({ id: 'locked-out' })).code).toBe(CODES.wrongKey[platform]);
    expect((await trader.time()).ok).toBe(true);
    fault();
    expect((await trader.balance()).ok).toBe(true);
  });

  test('refuses our time when its clock is off, and reports its own', async () => {
    fault({ kind: 'clockOff', offsetMs: 300_000 });
    expect((await trader.balance()).code).toBe(CODES.clock[platform]);
    const { data, response } = await trader.time();
    const theirs = under.clock.now().getTime() + 300_000;
    const told =
      platform === 'Bybit'
        ? (JSON.parse(response.body) as { time: number }).time
        : Number((data as { serverTime: string }).serverTime);
    expect(told).toBe(theirs);
  });

  test('refuses an order for insufficient balance', async () => {
    fault({ kind: 'balanceRefused' });
    expect((await trader.enter({ id: 'poor' })).code).toBe(CODES.balance[platform]);
    expect((await trader.enter({ id: 'rich' })).ok).toBe(true);
  });

  test('refuses leverage, sets another one or leaves it unchanged', async () => {
    fault({ kind: 'leverageRefused' });
    expect((await trader.setLeverage(7)).code).toBe(CODES.leverage[platform]);
    const leverageOf = async (id: string) => {
      await trader.enter({ id });
      return (await ledger().exchangeOrders(under.userId, platform)).at(-1)?.leverage;
    };
    fault({ kind: 'leverageDiffers' });
    expect((await trader.setLeverage(7)).ok).toBe(true);
    expect(await leverageOf('differs')).toBe(6);
    fault({ kind: 'leverageIgnored' });
    expect((await trader.setLeverage(9)).ok).toBe(true);
    expect(await leverageOf('ignored')).toBe(6);
  });

  test('fills a part immediately and the rest with the next price', async () => {
    fault({ kind: 'partialFill', fraction: 'one step' });
    await trader.enter({ id: 'partly' });
    expect(await states()).toEqual([['partially_filled', STEP[platform]]]);
    under.marks.push('BTC', '64990');
    await under.venue.settle('BTC');
    expect(await states()).toEqual([['filled', '0.01']]);
  });

  test('drops a stop at each fill', async () => {
    fault({ kind: 'stopDropped' });
    await trader.enter({ id: 'naked' });
    expect(await holding()).toMatchObject({ stopLoss: null, takeProfit: '69000' });
    expect((await trader.setStop('63000')).ok).toBe(true);
    expect(await holding()).toMatchObject({ stopLoss: '63000' });
  });

  test('drops a stop only while the order is partly filled', async () => {
    fault({ kind: 'stopDropped', when: 'while partly filled' }, { kind: 'partialFill', fraction: '0.5' });
    await trader.enter({ id: 'naked-part' });
    expect(await holding()).toMatchObject({ stopLoss: null });
    under.marks.push('BTC', '64990');
    await under.venue.settle('BTC');
    expect(await holding()).toMatchObject({ stopLoss: '63000' });
  });

  test('puts a stop further away than ordered, at a fill and when it is placed', async () => {
    fault({ kind: 'stopMisplaced', ticks: 7 });
    await trader.enter({ id: 'far' });
    expect(await holding()).toMatchObject({ stopLoss: '62999.3', takeProfit: '69000' });
    fault({ kind: 'stopMisplaced', ticks: 'most', on: { operation: 'place-protection' } });
    expect((await trader.setStop('63000')).ok).toBe(true);
    expect(await holding()).toMatchObject({ stopLoss: '0.1' });
    expect((await trader.setStop('63000')).ok).toBe(true);
    expect(await holding()).toMatchObject({ stopLoss: '63000' });
  });

  test('puts a stop on a part of the position only', async () => {
    fault({ kind: 'stopMisplaced', covers: '0.5' });
    await trader.enter({ id: 'half' });
    const [stop] = await under.db
      .select()
      .from(paperTriggerOrders)
      .where(and(eq(paperTriggerOrders.userId, under.userId), eq(paperTriggerOrders.planType, 'loss_plan')));
    expect(stop).toMatchObject({ triggerPrice: '63000', size: '0.005' });
  });

  test('refuses to place a stop and to close the position', async () => {
    await trader.enter({ id: 'in' });
    fault({ kind: 'stopRefused' }, { kind: 'closeRefused' });
    expect((await trader.setStop('62000')).code).toBe(CODES.parameter[platform]);
    expect((await trader.close()).code).toBe(CODES.parameter[platform]);
    expect(await holding()).toMatchObject({ position: { side: 'long' }, stopLoss: '63000' });
    expect((await trader.close()).ok).toBe(true);
    expect(await holding()).toMatchObject({ position: null, stopLoss: null });
  });

  test('fills a cancelled order later', async () => {
    await trader.enter({ id: 'late', price: '64000' });
    fault({ kind: 'lateFill', afterMs: 5_000 });
    expect((await trader.cancel('late')).ok).toBe(true);
    await trader.balance();
    expect(await states()).toEqual([['live', '0']]);
    under.clock.advance(5_000);
    expect((await trader.find('late')).ok).toBe(true);
    expect(await states()).toEqual([['filled', '0.01']]);
  });

  test('fills a cancelled order some requests later', async () => {
    await trader.enter({ id: 'late', price: '64000' });
    fault({ kind: 'lateFill', afterRequests: 2 });
    await trader.cancel('late');
    for (const state of ['live', 'live', 'filled']) {
      await trader.balance();
      expect((await states())[0]?.[0]).toBe(state);
    }
  });

  test('delivers a cut-off order after look-ups have found nothing', async () => {
    fault({ kind: 'lateArrival', afterMs: 8_000 });
    expect((await trader.enter({ id: 'lost' })).response.delivery).toBe('cut');
    expect((await trader.find('lost')).ok).toBe(false);
    expect(await states()).toEqual([]);
    under.clock.advance(8_000);
    expect((await trader.find('lost')).ok).toBe(true);
    expect(await states()).toEqual([['filled', '0.01']]);
  });
});

test('breaks off a truncated body over a socket', async () => {
  const server = await listenVenue(under.venue, { port: 0 });
  try {
    under.venue.setFaults([{ kind: 'truncatedBody' }]);
    const response = await fetch(`${server.url}/v5/market/time`);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  } finally {
    await server.close();
  }
});
