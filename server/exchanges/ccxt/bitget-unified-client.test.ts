import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { documentedAnswer, parametersIn } from '#test/venues/exchange-suite-answers.ts';
import { openOnVenue } from '#test/venues/exchanges-under-test.ts';
import type { VenueRequest } from '#test/venues/http.ts';
import {
  accountOn,
  answeringRegistry,
  buy,
  inTime,
  newId,
  type WiredExchange,
} from '#test/venues/test-registry.ts';
import { type Exchange, type ExchangeAccount, UNREADABLE } from '../exchange.ts';
import type { ExchangeRegistry } from '../registry.ts';

/* What is particular to Bitget's unified accounts. */

type Answer = Record<string, unknown>;

describe('a unified account of Bitget', () => {
  let registry: ExchangeRegistry;
  let exchange: Exchange;
  let sent: VenueRequest[];
  let answers: Record<string, (documented: Answer) => unknown>;
  const account = accountOn('Bitget unified');

  beforeAll(() => {
    registry = answeringRegistry((request) => {
      sent.push(request);
      const documented = documentedAnswer('Bitget unified', request) as Answer;
      const change = answers[request.path.replace('/api/v3/', '')];
      return change ? { ...documented, ...(change(documented) as object) } : documented;
    });
    exchange = registry.get('Bitget');
  });
  afterAll(() => registry.close());
  beforeEach(() => {
    sent = [];
    answers = {};
  });

  const strategies = (...data: object[]) => {
    answers['trade/unfilled-strategy-orders'] = () => ({ data });
  };
  const strategy = (orderId: string, changes: object) => ({
    orderId,
    clientOid: `plan-${orderId}`,
    category: 'USDT-FUTURES',
    symbol: 'BTCUSDT',
    qty: '0.01',
    posSide: 'long',
    ...changes,
  });

  test('in another mode than isolated margin is not prepared, and nothing is set', async () => {
    answers['account/settings'] = ({ data }) => ({
      data: { ...(data as object), accountLevel: 'advanced', holdMode: 'one_way_mode' },
    });
    const preparing = exchange.prepareAccount(account, { token: 'BTC', leverage: 20 });
    await expect(preparing).rejects.toMatchObject({
      kind: 'refused',
      code: 'not-sent',
      message: expect.stringContaining('only isolated margin is traded'),
    });
    expect(sent.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  test.each([[null], [{ list: null }], [{}]])(
    'a list of positions of %j is not a flat account',
    async (data) => {
      answers['position/current-position'] = () => ({ data });
      await expect(exchange.fetchPosition(account, 'BTC')).rejects.toMatchObject({ code: UNREADABLE });
      await expect(exchange.fetchHoldings(account)).rejects.toMatchObject({ code: UNREADABLE });
    },
  );

  test.each([[null], [{ list: [] }]])('a list of stops of %j is not a missing stop', async (data) => {
    answers['trade/unfilled-strategy-orders'] = () => ({ data });
    await expect(exchange.fetchProtection(account, 'BTC')).rejects.toMatchObject({ code: UNREADABLE });
  });

  test('has a long and a short position in hedge mode: neither is taken for the position', async () => {
    answers['position/current-position'] = ({ data }) => {
      const [long] = (data as { list: object[] }).list;
      return { data: { list: [long, { ...long, posSide: 'short' }] } };
    };
    await expect(exchange.fetchPosition(account, 'BTC')).rejects.toMatchObject({ kind: 'refused' });
  });

  test('shares one list of contracts with classic accounts, whichever of them reads it', async () => {
    const lists = () => sent.filter(({ path }) => path.endsWith('/contracts')).length;
    await exchange.fetchPosition(account, 'BTC');
    const before = lists();
    await exchange.fetchPosition(accountOn('Bitget'), 'BTC');
    expect(lists()).toBe(before);
    answers['/api/v2/mix/market/contracts'] = ({ data }) => ({
      data: (data as object[]).map((contract) => ({ ...contract, symbolStatus: 'limit_open' })),
    });
    // A token that is not listed has the list read again.
    await exchange.fetchContract('NOSUCHTOKEN');
    const placement = await exchange.placeOrder(account, buy(), inTime());
    expect(placement).toMatchObject({
      outcome: 'refused',
      message: expect.stringContaining('it only closes positions (limit_open)'),
    });
  });

  test('tells the exchange’s time, which is one for both kinds of account', async () => {
    const aheadMs = 20 * 60_000;
    answers['account/assets'] = () => ({ requestTime: Date.now() + aheadMs });
    await exchange.fetchBalance(account);
    expect(Math.abs((exchange.clockAheadMs() ?? 0) - aheadMs)).toBeLessThan(60_000);
  });

  test('reads a history in periods of thirty days, for as long as Bitget keeps it', async () => {
    await exchange.fetchClosedPositions(account, { since: new Date(0) });
    const periods = sent
      .filter(({ path }) => path.endsWith('history-position'))
      .map((request) => parametersIn(request))
      .map(({ startTime, endTime }) => (Number(endTime) - Number(startTime)) / 86_400_000);
    expect(periods.slice(0, 2)).toEqual([30, 30]);
    expect(periods).toHaveLength(3);
    expect(periods[2]).toBeLessThan(30);
  });

  test('reads the stop of a position behind hundreds of others in one list', async () => {
    const others = Array.from({ length: 250 }, (_, index) =>
      strategy(String(1_000 + index), { symbol: 'ETHUSDT', stopLoss: '1' }),
    );
    strategies(...others, strategy('21', { stopLoss: '63000' }), strategy('22', { takeProfit: '69000' }));
    expect(await exchange.fetchProtection(account, 'BTC')).toEqual({
      stopLoss: '63000',
      takeProfit: '69000',
    });
    expect(sent.filter(({ path }) => path.endsWith('strategy-orders'))).toHaveLength(1);
  });

  test('moves every stop that is left from elsewhere, and places none beside them', async () => {
    strategies(strategy('21', { stopLoss: '63000' }), strategy('22', { stopLoss: '62000' }));
    const change = { token: 'BTC', side: 'long' as const, quantity: '0.01', clientOrderId: 'm' };
    const moving = exchange.moveProtection(
      account,
      { ...change, stopLoss: '64000', takeProfit: null },
      inTime(),
    );
    // The documented account never changes.
    await expect(moving).rejects.toMatchObject({ kind: 'unknown' });
    const changed = sent.filter(({ method }) => method === 'POST').map((request) => parametersIn(request));
    expect(changed.map(({ orderId, stopLoss }) => [orderId, stopLoss])).toEqual([
      ['21', '64000'],
      ['22', '64000'],
    ]);
  });

  test('does not take a moved stop for half of the position as moved', async () => {
    strategies(strategy('21', { stopLoss: '64000', qty: '0.005' }));
    const change = { token: 'BTC', side: 'long' as const, quantity: '0.01', clientOrderId: 'm' };
    await expect(
      exchange.moveProtection(account, { ...change, stopLoss: '64000', takeProfit: null }, inTime()),
    ).rejects.toMatchObject({ kind: 'unknown', message: expect.stringContaining('64000 for 0.005') });
  });
});

describe('a unified account of Bitget on the venue', () => {
  let under: WiredExchange;
  let account: ExchangeAccount;
  beforeAll(async () => {
    under = await openOnVenue('Bitget unified', { overHttp: false });
  });
  afterAll(() => under.close());
  beforeEach(async () => {
    under.setFaults([]);
    under.push('BTC', '65000');
    account = under.newAccount();
    await under.exchange.prepareAccount(account, { token: 'BTC', leverage: 10 });
    await under.exchange.placeOrder(account, buy(), inTime());
  });

  const position = { token: 'BTC', side: 'long' as const, quantity: '0.01' };

  test('finds the stop that ended a position behind a page of newer ones', async () => {
    under.push('ETH', '3000');
    await under.exchange.prepareAccount(account, { token: 'ETH', leverage: 10 });
    // Each leaves a stop and a target behind.
    for (let count = 0; count < 51; count += 1) {
      const entry = { token: 'ETH', price: '3000', quantity: '0.1', stopLoss: '2900', takeProfit: '3100' };
      await under.exchange.placeOrder(account, buy(entry), inTime());
      const close = { token: 'ETH', side: 'long' as const, quantity: '0.1', clientOrderId: newId() };
      await under.exchange.closePosition(account, close, inTime());
    }
    under.push('BTC', '62900');
    const since = new Date(Date.now() - 3_600_000);
    const closed = await under.exchange.fetchClosedPositions(account, { since });
    const ended = closed.find(({ token }) => token === 'BTC');
    if (ended === undefined) throw new Error('no closed position');
    expect(await under.exchange.findClosingOrder(account, ended)).toMatchObject({ source: 'stop loss' });
  });

  test('moves its stop with one request, which the order answers that holds it', async () => {
    const calls: string[] = [];
    const onCall = ({ method, endpoint }: { method: string; endpoint: string }) =>
      calls.push(`${method} ${endpoint.split('/').at(-1)}`);
    const request = { ...position, stopLoss: '64000', takeProfit: null, clientOrderId: newId() };
    await under.exchange.moveProtection(account, request, { ...inTime(), onCall });
    expect(calls).toEqual([
      'GET unfilled-strategy-orders',
      'POST modify-strategy-order',
      'GET unfilled-strategy-orders',
    ]);
    calls.length = 0;
    await under.exchange.moveProtection(account, request, { ...inTime(), onCall });
    expect(calls).toEqual(['GET unfilled-strategy-orders']);
  });

  test('shows the fill of an order with the stop of its size, once the whole order has filled', async () => {
    const paths: string[] = [];
    const onCall = ({ endpoint }: { endpoint: string }) => paths.push(endpoint.split('/').at(-1) ?? '');
    const other = under.newAccount();
    await under.exchange.prepareAccount(other, { token: 'BTC', leverage: 10 });
    const resting = buy({ price: '64000', stopLoss: '62000' });
    await under.exchange.placeOrder(other, resting, inTime());
    expect(await under.exchange.fetchFill(other, resting, { onCall })).toMatchObject({
      report: { state: 'open' },
      protection: null,
    });
    expect(paths).toEqual(['order-info']);
    under.push('BTC', '63990');
    paths.length = 0;
    expect(await under.exchange.fetchFill(other, resting, { onCall })).toMatchObject({
      report: { state: 'filled', filledQuantity: '0.01', averagePrice: '63990', fee: '0.12798' },
      protection: { stopLoss: '62000', takeProfit: '69000.1' },
    });
    expect(paths).toEqual(['order-info', 'unfilled-strategy-orders']);
    await under.loseStop(other, 'BTC');
    const fill = await under.exchange.fetchFill(other, resting);
    expect(fill?.protection?.stopLoss).toBeNull();
    expect(await under.exchange.fetchFill(other, { token: 'BTC', clientOrderId: newId() })).toBeNull();
  });
});
