import autocannon, { type Result } from 'autocannon';
import { type BenchResult, createFigures } from './figures.ts';
import { findPgbench, preparePgbench, runPgbench } from './pgbench.ts';
import { cpuSeconds, processTree } from './processes.ts';
import { type Program, withDatabase, withProgram } from './program.ts';

const ROUNDS = 3;
const SECONDS = 8;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 50;
const TOKENS = ['BTC', 'ETH', 'SOL', 'TON', 'SUI', 'XRP', 'PEPE', 'DOGE'];

type Kind = 'candle' | 'signal';
type Figures = ReturnType<typeof createFigures>;

/** Deliveries per second beside what the same database does for pgbench in the same minute. */
export async function benchIngest(say: (line: string) => void): Promise<BenchResult> {
  const figures = createFigures();
  const pgbench = await findPgbench();
  let left = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    say(`ingest: round ${round} of ${ROUNDS}`);
    // A new program each time: the workflows that a round leaves to the engine must not slow the next one down.
    left = await withProgram({ AUTO_TRADE: 'disabled', WEBHOOK_RATE_LIMIT: '0' }, async (program) => {
      const tps = pgbench === null ? null : await measureBaseline(program);
      if (tps !== null) figures.add('pgbench -N, 10 clients', 'tps', tps);
      for (const kind of ['candle', 'signal'] as const) await measure({ program, kind, tps, figures });
      return countWaiting(program);
    });
  }
  return {
    bench: 'ingest',
    about: `Unique deliveries at ${CONNECTIONS} connections for ${SECONDS} s, each durably committed before its answer, and pgbench for as long on the same server just before`,
    figures: figures.all(),
    notes: [
      pgbench === null ? 'There is no pgbench on PATH: the baseline is left out.' : `Baseline: ${pgbench}`,
      'Load generator, program and database share the processors.',
      `Automatic trading is off; at the end of the last round ${left.toLocaleString('en')} workflows still waited to be recorded as aborted.`,
    ],
  };
}

async function measureBaseline({ postmaster }: Program): Promise<number> {
  await preparePgbench(postmaster);
  await runPgbench({ postmaster, seconds: WARM_UP_SECONDS });
  return runPgbench({ postmaster, seconds: SECONDS });
}

async function measure(options: {
  program: Program;
  kind: Kind;
  tps: number | null;
  figures: Figures;
}): Promise<void> {
  const { program, kind, tps, figures } = options;
  await load(program, kind, WARM_UP_SECONDS);
  const before = await countStored(program, kind);
  const cpuBefore = await cpuUsed(program);
  const result = await load(program, kind, SECONDS);
  const cpuAfter = await cpuUsed(program);
  const stored = (await countStored(program, kind)) - before;
  const answered = result['2xx'];
  if (result.non2xx > 0 || result.errors > 0 || stored < answered) {
    throw new Error(
      `${kind}: ${answered} answered 200, ${stored} stored, ${result.non2xx} refused, ${result.errors} errors`,
    );
  }
  const rate = answered / result.duration;
  figures.add(`${kind}s`, '/s', rate);
  figures.add(`${kind}s, answer p50`, 'ms', result.latency.p50);
  figures.add(`${kind}s, answer p99`, 'ms', result.latency.p99);
  if (cpuBefore !== null && cpuAfter !== null) {
    for (const part of ['program', 'database'] as const) {
      const ms = (1000 * (cpuAfter[part] - cpuBefore[part])) / answered;
      figures.add(`${kind}s, processor time of the ${part} for each`, 'ms', ms);
    }
  }
  if (tps !== null) figures.add(`${kind}s per pgbench transaction`, '×', rate / tps);
}

function load({ server, hookKey }: Program, kind: Kind, seconds: number): Promise<Result> {
  const route = kind === 'signal' ? 'trading_view_signal' : 'trading_view_candler';
  return autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        path: `/hooks/${route}?hkid=${hookKey}`,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        setupRequest: (request) => ({ ...request, body: JSON.stringify(nextPayload(kind)) }),
      },
    ],
  });
}

/** Seconds so far; unlike a rate it hardly depends on what else the machine is doing. */
async function cpuUsed({ server, postmaster }: Program) {
  const pid = server.child.pid;
  if (process.platform !== 'linux' || pid === undefined) return null;
  return {
    program: await cpuSeconds([pid]),
    database: await cpuSeconds(await processTree(postmaster.pid)),
  };
}

let serial = 0;

/** No two alike, in size and fields like what charts send. */
function nextPayload(kind: Kind): Record<string, string> {
  serial += 1;
  const token = TOKENS[serial % TOKENS.length] ?? '';
  const price = (100 + (serial % 1000) / 1000).toFixed(3);
  const now = new Date().toISOString();
  if (kind === 'signal') {
    const action = serial % 2 === 0 ? 'buy' : 'sell';
    const symbol = `BITGET:${token}USDT.P`;
    return { symbol, action, price, timeframe: '15', processor: 'Tesla', time: now, serial: String(serial) };
  }
  return {
    Timeframe: '15',
    Symbol: `${token}USDT`,
    Currency: 'USDT',
    DateTime: now.slice(0, 16).replaceAll(/\D/g, ''),
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

async function countStored({ postmaster }: Program, kind: Kind): Promise<number> {
  const table = kind === 'signal' ? 'signals' : 'price_logs';
  return count({ postmaster }, `select count(*)::int as count from ${table}`);
}

const countWaiting = (program: Program) =>
  count(program, `select count(*)::int as count from workflows where status in ('pending', 'processing')`);

function count({ postmaster }: Pick<Program, 'postmaster'>, query: string): Promise<number> {
  return withDatabase({ postmaster }, async (client) => {
    const { rows } = await client.query<{ count: number }>(query);
    return rows[0]?.count ?? 0;
  });
}
