import { afterAll, describe, expect, inject, test } from 'vitest';
import { isDecimal } from '#domain/decimal.ts';
import { documentedAnswer } from '#test/venues/exchange-suite-answers.ts';
import { platformOf, type SuiteDialect } from '#test/venues/exchange-suite-words.ts';
import { jsonAnswer, type VenueAnswer, type VenueRequest } from '#test/venues/http.ts';
import { accountOn, answeringRegistry, buy, inTime } from '#test/venues/test-registry.ts';
import { type Exchange, type ExchangeAccount, ExchangeError } from './exchange.ts';

/*
 * An exchange that answers with arbitrary data (F24). Each answer is corrupted in one or two places, by a seed that
 * failure messages name. The result must be a value with valid numbers, an ExchangeError or an unknown outcome, and
 * never an order that was not placed.
 */

const RUNS_PER_CALL = inject('everyCase') ? 40 : 15;

const ENTRY = buy({ clientOrderId: 'trade-a1', price: '65000.5', quantity: '0.012' });
const POSITION = { token: 'BTC', side: 'long' as const, quantity: '0.012', clientOrderId: 'trade-c' };
/** The documented stop, as a move that has come this far. */
const MOVE = { ...POSITION, stopLoss: '63000', takeProfit: null, clientOrderId: 'plan-21' };
const CLOSED = {
  ...POSITION,
  positionId: 'p',
  entryPrice: '1',
  closePrice: '1',
  realisedProfit: '0',
  fees: '0',
  funding: '0',
  openedAt: new Date(1795273017323),
  closedAt: new Date(1795273117323),
};

const CALLS: [string, (exchange: Exchange, of: ExchangeAccount) => Promise<unknown>][] = [
  ['fetchTicker', (exchange) => exchange.fetchTicker('BTC')],
  ['fetchMarkPrices', (exchange) => exchange.fetchMarkPrices(['BTC'])],
  ['inspectKey', (exchange, of) => exchange.inspectKey(of)],
  ['fetchBalance', (exchange, of) => exchange.fetchBalance(of, { includeSpot: true })],
  ['readTradeAccount', (exchange, of) => exchange.readTradeAccount(of, { token: 'BTC', leverage: null })],
  ['prepareAccount', (exchange, of) => exchange.prepareAccount(of, { token: 'BTC', leverage: 20 })],
  ['placeOrder', (exchange, of) => exchange.placeOrder(of, ENTRY, inTime())],
  ['findOrder', (exchange, of) => exchange.findOrder(of, ENTRY)],
  ['cancelOrder', (exchange, of) => exchange.cancelOrder(of, ENTRY)],
  ['fetchOpenOrders', (exchange, of) => exchange.fetchOpenOrders(of, 'BTC')],
  ['fetchPosition', (exchange, of) => exchange.fetchPosition(of, 'BTC')],
  ['fetchFill', (exchange, of) => exchange.fetchFill(of, ENTRY)],
  ['fetchHolding', (exchange, of) => exchange.fetchHolding(of, 'BTC')],
  ['fetchProtection', (exchange, of) => exchange.fetchProtection(of, 'BTC')],
  ['fetchHoldings', (exchange, of) => exchange.fetchHoldings(of)],
  [
    'placeProtection',
    (exchange, of) =>
      exchange.placeProtection(of, { ...POSITION, stopLoss: '63000', takeProfit: '69000' }, inTime()),
  ],
  ['moveProtection', (exchange, of) => exchange.moveProtection(of, MOVE, inTime())],
  [
    'fetchClosedPositions',
    (exchange, of) => exchange.fetchClosedPositions(of, { since: new Date(1795272000000) }),
  ],
  [
    'fetchLedger',
    (exchange, of) =>
      exchange.fetchLedger(of, { from: new Date(1795186617323), to: new Date(1795359417323) }),
  ],
  ['findClosingOrder', (exchange, of) => exchange.findClosingOrder(of, CLOSED)],
  ['cancelProtection', (exchange, of) => exchange.cancelProtection(of, 'BTC')],
  ['closePosition', (exchange, of) => exchange.closePosition(of, POSITION, inTime())],
];

/** mulberry32: the same numbers for the same seed on every platform. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const HUGE_ID = '9007199254740993';
/** Placeholder for a bare number beyond 2^53, which a JavaScript number cannot hold. */
const BARE_HUGE = '<a bare number beyond 2^53>';

const SPOILT: unknown[] = [
  undefined,
  null,
  '',
  '0',
  0,
  -1,
  '-0.5',
  1e21,
  '1e400',
  'NaN',
  'Infinity',
  HUGE_ID,
  BARE_HUGE,
  true,
  [],
  [null],
  {},
  [[]],
  { a: { b: [1] } },
  'x'.repeat(5_000),
  '\u0000',
  '__proto__',
  '0x10',
  ' 1 ',
  '１２',
];

const WHOLE: ((text: string) => string)[] = [
  () => '',
  () => 'null',
  () => '[]',
  () => '5',
  () => '"text"',
  () => '{}',
  () => '<html>ok</html>',
  (text) => text.slice(0, Math.floor(text.length / 2)),
  (text) => `${text}${text}`,
  (text) => `[${text}]`,
];

function spoil(dialect: SuiteDialect, request: VenueRequest, random: () => number): VenueAnswer {
  const answer = documentedAnswer(dialect, request) as Record<string, unknown>;
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const text = () => JSON.stringify(answer).replaceAll(`"${BARE_HUGE}"`, HUGE_ID);
  if (random() < 0.15) return { ...jsonAnswer(200, null), body: pick(WHOLE)(text()) };
  for (let times = random() < 0.3 ? 2 : 1; times > 0; times -= 1) {
    const places = placesIn(answer);
    if (places.length === 0) break;
    const { of, name } = pick(places);
    const by = pick(SPOILT);
    if (by === undefined) delete of[name];
    else of[name] = structuredClone(by);
  }
  const status = random() < 0.1 ? pick([201, 204, 400, 401, 403, 404, 418, 429, 500, 503]) : 200;
  return { ...jsonAnswer(status, null), body: text() };
}

function placesIn(value: unknown): { of: Record<string, unknown>; name: string }[] {
  if (value === null || typeof value !== 'object') return [];
  const of = value as Record<string, unknown>;
  return Object.keys(of).flatMap((name) => [{ of, name }, ...placesIn(of[name])]);
}

const NUMBERS =
  /^(price|quantity|filledQuantity|averagePrice|fee|fees|stopLoss|takeProfit|entryPrice|markPrice|lastPrice|margin|unrealisedProfit|liquidationPrice|closePrice|realisedProfit|futures\w+|spot\w+)$/;
const MAY_BE_NULL = /^(price|averagePrice|fee|stopLoss|takeProfit|markPrice|liquidationPrice|spot\w+)$/;

/** Lists invalid fields in a value of the port. */
function problemsOf(value: unknown, name = ''): string[] {
  if (name === 'raw') return [];
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? [`${name} is no time`] : [];
  if (NUMBERS.test(name)) {
    if (value === null && MAY_BE_NULL.test(name)) return [];
    return typeof value === 'string' && isDecimal(value) ? [] : [`${name} is ${JSON.stringify(value)}`];
  }
  if (Array.isArray(value)) return value.flatMap((one) => problemsOf(one));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([field, inner]) => problemsOf(inner, field));
}

describe.each(['Bitget', 'Bitget unified', 'Bybit'] as const)('corrupted answers of %s', (dialect) => {
  const platform = platformOf(dialect);
  let random = randomOf(0);
  let isSpoiling = true;
  const registry = answeringRegistry((request) =>
    isSpoiling && !/contracts|instruments/.test(request.path)
      ? spoil(dialect, request, random)
      : documentedAnswer(dialect, request),
  );
  afterAll(() => registry.close());
  const account = accountOn(dialect);

  test.each(CALLS)('%s', async (name, call) => {
    isSpoiling = false;
    const whole = await call(registry.get(platform), account).catch((error: unknown) => error);
    // The documented account never changes: its preparation is refused, and its stops stay.
    const isRefused = name === 'prepareAccount' || name === 'cancelProtection';
    expect(whole instanceof Error, String(whole)).toBe(isRefused);
    expect(problemsOf(whole)).toEqual([]);
    if (Array.isArray(whole)) expect(whole).not.toEqual([]);
    isSpoiling = true;
    for (let run = 1; run <= RUNS_PER_CALL; run += 1) {
      random = randomOf(run);
      const outcome = await call(registry.get(platform), account).catch((error: unknown) => error);
      const seed = `${dialect} ${name}, seed ${run}`;
      if (outcome instanceof Error) {
        expect(outcome, seed).toBeInstanceOf(ExchangeError);
        continue;
      }
      expect(problemsOf(outcome), seed).toEqual([]);
      if (name === 'findOrder' && outcome !== null) {
        expect(outcome, seed).toMatchObject({ clientOrderId: ENTRY.clientOrderId });
      }
      if (name === 'placeOrder' && (outcome as { outcome: string }).outcome === 'placed') {
        expect((outcome as { orderId: unknown }).orderId, seed).toEqual(expect.stringMatching(/\S/));
      }
    }
  });

  describe('the list of contracts', () => {
    let bodyOf: ((request: VenueRequest) => string) | null = null;
    const own = answeringRegistry((request) => {
      const whole = documentedAnswer(dialect, request);
      if (bodyOf === null || !/contracts|instruments/.test(request.path)) return whole;
      return { ...jsonAnswer(200, whole), body: bodyOf(request) };
    });
    afterAll(() => own.close());
    /** An unlisted token reloads the list each time. */
    const readAgain = () => own.get(platform).fetchContract('NOSUCHTOKEN');

    test.each([
      ['nothing', ''],
      ['HTML', '<html>ok</html>'],
      ['an empty object', '{}'],
      ['no list', '{"code":"00000","data":null,"retCode":0,"result":null}'],
      ['an empty list', '{"code":"00000","data":[],"retCode":0,"result":{"list":[]}}'],
    ])('answered as %s does not replace the known list', async (_, body) => {
      bodyOf = null;
      const known = await own.get(platform).fetchContract('BTC');
      expect(known).not.toBeNull();
      bodyOf = () => body;
      await expect(readAgain()).rejects.toBeInstanceOf(ExchangeError);
      expect(await own.get(platform).fetchContract('BTC')).toEqual(known);
    });

    test('corrupted, is an error or a list, and the next readable one is correct again', async () => {
      for (let run = 1; run <= RUNS_PER_CALL; run += 1) {
        random = randomOf(run);
        bodyOf = (request) => spoil(dialect, request, random).body;
        const outcome = await readAgain().catch((error: unknown) => error);
        if (outcome !== null) expect(outcome, `seed ${run}`).toBeInstanceOf(ExchangeError);
      }
      bodyOf = null;
      expect(await readAgain()).toBeNull();
      expect(await own.get(platform).fetchContract('BTC')).toMatchObject({ tickSize: '0.1' });
    });
  });
});
