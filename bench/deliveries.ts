import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { User } from '#contract/users.ts';
import { sum } from './figures.ts';
import {
  count,
  millisecondsEach,
  type ProcessorTime,
  type Program,
  runChild,
  UNLIMITED,
  withDatabase,
  withProcessorTime,
} from './harness.ts';

export type Kind = 'candle' | 'signal';

const TOKENS = ['BTC', 'ETH', 'SOL', 'TON', 'SUI', 'XRP', 'PEPE', 'DOGE'];
export const PRICE = '100';
export const CONNECTIONS = 50;
export const NO_WAITS = { VERIFY_FIRST_MS: '0', VERIFY_SECOND_MS: '0', CANCEL_DELAY_MS: '0' };
/** All signals come from one administrator's webhook, so the rate limit is off: none may be refused. */
export const TRADING = { ...UNLIMITED, AUTO_TRADE: 'enabled', PAPER_BALANCE: '1000000' };

const SERIALS_A_RUN = 100_000_000;
const PRINTED_CHARACTERS = 3_000;
const PAYLOADS = fileURLToPath(new URL('payloads.lua', import.meta.url));

const pathOf = (kind: Kind, hookKey: string) =>
  `/hooks/${kind === 'signal' ? 'trading_view_signal' : 'trading_view_candler'}?hkid=${hookKey}`;

/** A body as charts send it. */
function payloadOf(
  kind: Kind,
  fields: { token: string; price: string; serial: number; action?: string; timeframe?: string },
) {
  const { token, price, serial, action = 'buy', timeframe = '15' } = fields;
  const time = new Date().toISOString();
  if (kind === 'signal') {
    const symbol = `BITGET:${token}USDT.P`;
    return { symbol, action, price, timeframe, processor: 'Tesla', time, serial: String(serial) };
  }
  return {
    Timeframe: timeframe,
    Symbol: `${token}USDT`,
    Currency: 'USDT',
    DateTime: time.slice(0, 16).replaceAll(/\D/g, ''),
    Open: '100',
    High: '101.5',
    Low: '99.2',
    Close: price,
    Volume: String(serial),
    RSI: '55.31',
    MACD: '1.204',
    ATR: '0.83',
    mature_trend: 'bullish',
  };
}

/** A unique body for each serial; payloads.lua produces the same bodies. */
function numberedPayload(kind: Kind, serial: number): string {
  const token = TOKENS[serial % TOKENS.length] ?? '';
  const price = (100 + (serial % 1000) / 1000).toFixed(3);
  const action = serial % 2 === 0 ? 'buy' : 'sell';
  return JSON.stringify(payloadOf(kind, { token, price, serial, action }));
}

let posted = 0;

const MOST_TRIES = 4;
const REPEAT_AFTER_MS = 5_000;

/** Sends one delivery; repeats it after a 503, as TradingView does. The time until then counts. */
export async function post(
  { server, hookKey }: { server: { url: string }; hookKey: string },
  kind: Kind,
  delivery: { token: string; price?: string; action?: 'buy' | 'sell' | 'close'; timeframe?: string },
): Promise<{ id: string; sentAt: number; answeredAt: number }> {
  posted += 1;
  const sentAt = Date.now();
  const body = JSON.stringify(payloadOf(kind, { price: PRICE, ...delivery, serial: posted }));
  const headers = { 'content-type': 'application/json' };
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(server.url + pathOf(kind, hookKey), { method: 'POST', headers, body });
    const answeredAt = Date.now();
    const text = await answer.text();
    if (answer.status === 200) return { id: (JSON.parse(text) as { id: string }).id, sentAt, answeredAt };
    if (answer.status !== 503 || tries === MOST_TRIES) throw new Error(`${kind}: ${answer.status} ${text}`);
    await sleep(REPEAT_AFTER_MS);
  }
}

/** The result of a load. */
export interface Load {
  /** Answered 200. */
  answered: number;
  /** Answered with any other status. */
  refused: number;
  errors: number;
  /** The actual duration in seconds. */
  seconds: number;
  /** Milliseconds until the answer. */
  p50: number;
  p99: number;
  max: number;
}

let generator: Promise<'wrk' | 'autocannon'> | null = null;

/** wrk takes a tenth of the processor time of a generator in Node. */
function findGenerator(): Promise<'wrk' | 'autocannon'> {
  generator ??= runChild('wrk', ['-v'], { limitMs: 10_000 }).then(
    () => 'wrk',
    // `wrk -v` prints its version but exits with 1.
    (error: Error) => (/^wrk /m.test(error.message) ? 'wrk' : 'autocannon'),
  );
  return generator;
}

export const describeGenerator = async (): Promise<string> =>
  (await findGenerator()) === 'wrk'
    ? 'Load generator: wrk with one thread, on the same processors as everything else.'
    : 'Load generator: autocannon, since there is no wrk on PATH; it takes several times the processor time of wrk from the same processors.';

let runs = 0;

/** Sends unique deliveries over keep-alive connections, each sending its next one after the answer to the last. */
export async function sendLoad(options: {
  url: string;
  hookKey: string;
  kind: Kind;
  seconds: number;
}): Promise<Load> {
  const { url, hookKey, kind, seconds } = options;
  const path = pathOf(kind, hookKey);
  runs += 1;
  const first = runs * SERIALS_A_RUN;
  if ((await findGenerator()) === 'autocannon') return sendByAutocannon({ url, kind, seconds, path, first });
  const shape = ['-t', '1', '-c', String(CONNECTIONS), '-d', `${seconds}s`, '--timeout', '20s'];
  const output = await runChild('wrk', [...shape, '-s', PAYLOADS, url, '--', kind, path, String(first)], {
    limitMs: (seconds + 60) * 1000,
  });
  const [, result] = /^RESULT (.*)$/m.exec(output) ?? [];
  if (result === undefined) throw new Error(`wrk printed no result:\n${output}`);
  return JSON.parse(result) as Load;
}

/** The parts of autocannon used here; it has no types. */
type Autocannon = (options: object) => Promise<{
  duration: number;
  errors: number;
  '2xx': number;
  non2xx: number;
  latency: { p50: number; p99: number; max: number };
}>;

async function sendByAutocannon(options: {
  url: string;
  kind: Kind;
  seconds: number;
  path: string;
  first: number;
}): Promise<Load> {
  const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon;
  let serial = options.first;
  const request = {
    method: 'POST',
    path: options.path,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    setupRequest(own: object) {
      serial += 1;
      return { ...own, body: numberedPayload(options.kind, serial) };
    },
  };
  const { duration, errors, latency, ...answers } = await autocannon({
    url: options.url,
    connections: CONNECTIONS,
    duration: options.seconds,
    requests: [request],
  });
  return { answered: answers['2xx'], refused: answers.non2xx, errors, seconds: duration, ...latency };
}

export interface MeasuredLoad {
  load: Load;
  /** Answered deliveries per second. */
  rate: number;
  /** Processor milliseconds for each delivery. */
  used: ProcessorTime;
}

export type Loaded = Pick<Program, 'hookKey' | 'postmaster'> & { servers: readonly Program['server'][] };

export const loadedBy = (program: Program): Loaded => ({ ...program, servers: [program.server] });

/** Loads all servers concurrently. Throws when a delivery is refused or an answered one is not stored. */
export async function measureLoad(target: Loaded, kind: Kind, seconds: number): Promise<MeasuredLoad> {
  const { servers, hookKey } = target;
  const before = await countStored(target, kind);
  const { result: loads, used } = await withProcessorTime(target, () =>
    Promise.all(servers.map(({ url }) => sendLoad({ url, hookKey, kind, seconds }))),
  );
  const load = addLoads(loads);
  requireAllAnswered(`${kind}s`, load, servers);
  const stored = (await countStored(target, kind)) - before;
  if (stored < load.answered) {
    throw new Error(`${kind}: ${load.answered} were answered 200 but ${stored} are stored`);
  }
  const each = (part: 'program' | 'database') => millisecondsEach(used[part], load.answered);
  const rate = load.answered / load.seconds;
  return { load, rate, used: { program: each('program'), database: each('database') } };
}

/** The sum of all deliveries and the worst of all times. */
function addLoads(loads: readonly Load[]): Load {
  const total = (part: keyof Load) => sum(loads.map((load) => load[part]));
  const worst = (part: keyof Load) => Math.max(...loads.map((load) => load[part]));
  return {
    answered: total('answered'),
    refused: total('refused'),
    errors: total('errors'),
    seconds: worst('seconds'),
    p50: worst('p50'),
    p99: worst('p99'),
    max: worst('max'),
  };
}

/** The error includes the programs' output: their warnings show the reason. */
export function requireAllAnswered(
  what: string,
  { answered, refused, errors }: Load,
  servers: readonly Pick<Program['server'], 'output'>[] = [],
): void {
  if (answered > 0 && refused === 0 && errors === 0) return;
  const printed = servers.map((server) => `\n${server.output().slice(-PRINTED_CHARACTERS)}`).join('');
  throw new Error(
    `${what}: ${answered} were answered 200, ${refused} were refused, ${errors} failed${printed}`,
  );
}

export const countStored = (program: Pick<Program, 'postmaster'>, kind: Kind) =>
  count(program, `select count(*) as count from ${kind === 'signal' ? 'signals' : 'price_logs'}`);

export interface Paced {
  /** Milliseconds until each answer. */
  answersMs: number[];
  /** Not answered 200. */
  refused: number;
}

/** Sends candles at a steady pace until the signal aborts. */
export async function sendPaced(options: {
  url: string;
  hookKey: string;
  everyMs: number;
  first: number;
  signal: AbortSignal;
}): Promise<Paced> {
  const { url, hookKey, everyMs, first, signal } = options;
  const paced: Paced = { answersMs: [], refused: 0 };
  const open = new Set<Promise<void>>();
  async function deliver(serial: number): Promise<void> {
    const startedAt = performance.now();
    const status = await fetch(url + pathOf('candle', hookKey), {
      method: 'POST',
      body: numberedPayload('candle', serial),
      signal: AbortSignal.timeout(20_000),
    }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.status;
      },
      () => 0,
    );
    paced.answersMs.push(performance.now() - startedAt);
    if (status !== 200) paced.refused += 1;
  }
  for (let serial = first; !signal.aborted; serial += 1) {
    const sent = deliver(serial).finally(() => open.delete(sent));
    open.add(sent);
    await sleep(everyMs);
  }
  await Promise.all(open);
  return paced;
}

/**
 * Creates users who trade every signal of the administrator. The API creates the first one; the others are copies of
 * its rows, because hashing a thousand passwords would take longer than the measurement.
 */
export async function createTraders(
  { client, postmaster }: Pick<Program, 'client' | 'postmaster'>,
  wanted: number,
): Promise<string[]> {
  const body = { username: 'trader1@example.com', password: 'a password of a trader' };
  const { user } = await client.post<{ user: User }>('/api/admin/create-client', body);
  await client.put(`/api/admin/user-settings/${user.id}`, {
    positionSizingMethod: 'Portfolio Allocation',
    investmentPortion: '0.001',
    signalProcessor: 'Tesla',
    signalTimeframe: 'Any',
  });
  await client.put(`/api/admin/user/${user.id}/active-trading`, { activeTrading: true });
  return withDatabase({ postmaster }, async (database) => {
    await database.query(
      `with copies as (
         select gen_random_uuid() as id, format('trader%s@example.com', number) as name
         from generate_series(2, $2::int) number
       ), made as (
         insert into users
         select (jsonb_populate_record(users, jsonb_build_object(
           'id', copies.id, 'username', copies.name, 'username_key', copies.name))).*
         from users, copies where users.id = $1
         returning id
       )
       insert into user_settings
       select (jsonb_populate_record(user_settings, jsonb_build_object('user_id', made.id))).*
       from user_settings, made where user_settings.user_id = $1`,
      [user.id, wanted],
    );
    const { rows } = await database.query<{ id: string }>(
      `select id from users where username like 'trader%' order by created_at, id`,
    );
    if (rows.length !== wanted) throw new Error(`Created ${rows.length} of ${wanted} traders`);
    return rows.map(({ id }) => id);
  });
}

/** How a signal's workflow ended: times in milliseconds since 1970 by this machine's clock, and users with an order. */
export interface Outcome {
  firstOrderAt: number;
  lastOrderAt: number;
  endedAt: number;
  successful: number;
}

interface Wait {
  limitMs: number;
  pollMs: number;
}

/** Posts a candle and then a signal of the token, so that default settings can size a position. */
export async function postSignalWithCandle(
  target: Parameters<typeof post>[0],
  delivery: Pick<Parameters<typeof post>[2], 'token' | 'action'>,
): ReturnType<typeof post> {
  await post(target, 'candle', { token: delivery.token });
  return await post(target, 'signal', delivery);
}

/** Waits for the end of a signal's workflow by polling the database, which costs the program nothing. */
export async function waitForOutcome(
  program: Pick<Program, 'postmaster'>,
  signalId: string,
  wait: Wait,
): Promise<Outcome> {
  const row = await readWhenEnded<{ first: Date; last: Date; ended: Date; successful: number }>(program, {
    signalId,
    wait,
    query: `select min(o.created_at) as first, max(o.created_at) as last, w.completed_at as ended,
              w.successful_users_count as successful
       from workflows w join trades t on t.workflow_id = w.id join order_attempts a on a.trade_id = t.id
       join paper_orders o on o.client_order_id = a.client_order_id
       where w.signal_id = $1 group by w.id`,
  });
  return {
    firstOrderAt: row.first.getTime(),
    lastOrderAt: row.last.getTime(),
    endedAt: row.ended.getTime(),
    successful: row.successful,
  };
}

/** Why the users of a signal were not traded, and how many each; for an error message. */
export const whyNotTraded = (
  { postmaster }: Pick<Program, 'postmaster'>,
  signalId: string,
): Promise<string> =>
  withDatabase({ postmaster }, async (client) => {
    const { rows } = await client.query<{ reason: string; users: string }>(
      String.raw`select regexp_replace(s.error_message, '\d{4}-\d\d-\d\dT[\d:.]+Z', '…', 'g') as reason, count(distinct s.user_id) as users
       from workflow_steps s join workflows w on w.id = s.workflow_id
       where w.signal_id = $1 and s.error_message is not null group by 1 order by 2 desc limit 5`,
      [signalId],
    );
    return rows.map(({ reason, users }) => `${users}: ${reason}`).join('; ');
  });

/** Waits for the end of the workflow of a signal that closes; `successful`: users whose position it has closed. */
export async function waitForCloses(
  program: Pick<Program, 'postmaster'>,
  signalId: string,
  wait: Wait,
): Promise<{ lastCloseAt: number; endedAt: number; successful: number }> {
  const row = await readWhenEnded<{ last: Date; ended: Date; successful: string }>(program, {
    signalId,
    wait,
    query: `select max(c.created_at) as last, w.completed_at as ended,
              count(distinct c.user_id) filter (where c.state = 'closed') as successful
       from workflows w join position_closes c on c.workflow_id = w.id where w.signal_id = $1 group by w.id`,
  });
  return {
    lastCloseAt: row.last.getTime(),
    endedAt: row.ended.getTime(),
    successful: Number(row.successful),
  };
}

/** Reads the row of the query, whose only parameter is the signal's id, when the signal's workflow has ended. */
function readWhenEnded<Row extends object>(
  { postmaster }: Pick<Program, 'postmaster'>,
  { signalId, wait, query }: { signalId: string; wait: Wait; query: string },
): Promise<Row> {
  const { limitMs, pollMs } = wait;
  const deadline = Date.now() + limitMs;
  return withDatabase({ postmaster }, async (client) => {
    while (Date.now() < deadline) {
      await sleep(pollMs);
      const ended = await client.query(
        'select from workflows where signal_id = $1 and completed_at is not null',
        [signalId],
      );
      if (ended.rowCount === 0) continue;
      const { rows } = await client.query<Row>(query, [signalId]);
      const [row] = rows;
      if (row === undefined) throw new Error(`The workflow of signal ${signalId} ended without an order`);
      return row;
    }
    throw new Error(`The workflow of signal ${signalId} did not end within ${limitMs} ms`);
  });
}
