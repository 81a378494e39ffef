import { readFile } from 'node:fs/promises';
import { runInNewContext } from 'node:vm';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { bybitTrader } from '#test/app/test-trader.ts';
import { SECRET_KEY, signedRequest, venueUnderTest } from '../venue-under-test.ts';

/*
 * The client library documents the answers that it reads in comments next to the reading code. Our answers must have
 * the same fields of the same kind.
 */

const under = venueUnderTest();
let source: string;

beforeAll(async () => {
  source = await readFile(new URL('./src/bybit.js', import.meta.resolve('ccxt')), 'utf8');
});
beforeEach(async () => {
  const { venue, userId, clock } = under;
  const trader = bybitTrader({ venue, userId, secretKey: SECRET_KEY, now: () => clock.now() });
  await trader.enter({ id: 'closed' });
  await trader.close();
  await trader.enter({ id: 'held' });
});

/** The objects in a method's comments that contain `field`, in order. */
function documented(method: string, field: string): unknown[] {
  const start = source.search(new RegExp(`\\n {4}(async )?${method}\\(.*\\) \\{\\n`));
  const body = source.slice(start + 1, source.indexOf('\n    }\n', start));
  const blocks: string[] = [];
  let block = '';
  for (const line of body.split('\n')) {
    const text = /^\s*\/\/(.*)$/.exec(line)?.[1];
    if (text !== undefined && (block !== '' || /^\s*\{\s*$/.test(text))) block += `${text}\n`;
    const isWhole = block !== '' && count(block, '{') === count(block, '}');
    if (isWhole || text === undefined) {
      if (isWhole) blocks.push(block);
      block = '';
    }
  }
  return blocks
    .filter((text) => text.includes(field))
    .map((text): unknown => runInNewContext(`(${text.replaceAll('[...]', '[]')})`));
}

const count = (text: string, character: string) => text.split(character).length - 1;

/** The value at a path such as `result.list.0`. */
const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], value);

const kindOf = (value: unknown) => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);

function missing(shown: unknown, ours: unknown, path = ''): string[] {
  if (kindOf(shown) !== 'object') {
    const [a, b] = [kindOf(shown), kindOf(ours)];
    return a === b ? [] : [`${path}: ${a} there, ${b} here`];
  }
  return Object.entries(shown as object).flatMap(([name, value]) => {
    const mine = (ours as Record<string, unknown> | undefined)?.[name];
    return missing(value, mine, path === '' ? name : `${path}.${name}`);
  });
}

/** A public or signed read from Bybit. */
async function ask(path: string, fields: Record<string, string> = {}): Promise<unknown> {
  const request = {
    method: 'GET',
    path: `/v5/${path}`,
    fields: { category: 'linear', ...fields },
  } as const;
  const { body } = await under.venue.handle(signedRequest('Bybit', under, request));
  return JSON.parse(body);
}

const BTC = { symbol: 'BTCUSDT' };

/**
 * Method, a word in its documentation, path of the answer's part there, our request, and fields that paper mode does
 * not have.
 */
const READINGS: [string, string, string, [string, Record<string, string>?], RegExp?][] = [
  ['fetchTime', 'timeNano', 'result', ['market/time']],
  ['fetchFutureMarkets', 'lotSizeFilter', 'result.list.0', ['market/instruments-info']],
  ['fetchTicker', 'lastPrice', 'result.list.0', ['market/tickers']],
  ['fetchBalance', 'totalEquity', 'result.list.0', ['account/wallet-balance', { accountType: 'UNIFIED' }]],
  ['isUnifiedEnabled', 'userID', 'result', ['user/query-api']],
  ['isUnifiedEnabled', 'unifiedMarginStatus', 'result', ['account/info']],
  [
    'fetchOpenOrders',
    'orderStatus',
    'result.list.0',
    ['order/realtime', { orderLinkId: 'held' }],
    /^slippageTolerance/,
  ],
  ['fetchMyTrades', 'execId', 'result.list.0', ['execution/list', BTC]],
  ['parsePosition', '"avgPrice": "0.3615"', '', ['position/list', BTC]],
  ['fetchPositionsHistory', 'closedPnl', 'result.list.0', ['position/closed-pnl', BTC]],
];

test.each(READINGS)('%s finds what it documents (%s)', async (method, field, path, request, unknown) => {
  const [shown] = documented(method, field);
  expect(shown).toBeDefined();
  const part = path === '' ? shown : at(shown, path);
  const answer = await ask(...request);
  const ours = path === 'result' ? at(answer, 'result') : at(answer, 'result.list.0');
  expect(Object.keys(part as object).length).toBeGreaterThan(1);
  expect(missing(part, ours).filter((line) => !unknown?.test(line))).toEqual([]);
});

test('an envelope has the documented fields', async () => {
  const [shown] = documented('fetchTicker', 'retCode');
  expect(missing({ ...(shown as object), result: {} }, await ask('market/tickers'))).toEqual([]);
});
