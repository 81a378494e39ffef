import { setTimeout as sleep } from 'node:timers/promises';
import { openStream, type TestStream } from '#test/app/test-events.ts';
import type { BenchContext } from './bench.ts';
import { type BenchResult, createFigures, percentile } from './figures.ts';
import { type Cluster, withCluster } from './program.ts';
import { post } from './traders.ts';

const BROWSERS = 100;
const INSTANCES = 2;
/** One user may have 20 open. */
const TABS_A_USER = 5;
const PASSWORD = 'a password of an operator';
const HEARD_LIMIT_MS = 10_000;

/** From a signal until each of a hundred open browsers has heard of it, over two instances. */
export async function benchEvents({ say, short }: BenchContext): Promise<BenchResult> {
  const signals = short ? 5 : 100;
  const figures = createFigures();
  const env = { AUTO_TRADE: 'disabled', WEBHOOK_RATE_LIMIT: '0' };
  await withCluster({ instances: INSTANCES, env }, async (cluster) => {
    say(`events: opening ${BROWSERS} browsers`);
    const streams = await openBrowsers(cluster);
    try {
      say(`events: ${signals} signals`);
      const heardMs: number[] = [];
      const slowestMs: number[] = [];
      for (let number = 0; number < signals; number += 1) {
        const program = cluster.programs[number % INSTANCES];
        if (program === undefined) throw new Error('There is no instance');
        const { id, sentAt } = await post({ server: program, hookKey: cluster.hookKey }, 'signal', {
          token: 'BTC',
        });
        const ms = await Promise.all(streams.map(async (stream) => (await hears(stream, id)) - sentAt));
        heardMs.push(...ms);
        slowestMs.push(Math.max(...ms));
        await sleep(200);
      }
      for (const ms of slowestMs) figures.add('a signal until all browsers have heard of it', 'ms', ms);
      figures.add('a signal until a browser has heard of it, half of them', 'ms', percentile(heardMs, 0.5));
      figures.add('a signal until a browser has heard of it, p95', 'ms', percentile(heardMs, 0.95), {
        most: 500,
      });
      figures.add('a signal until a browser has heard of it, p99', 'ms', percentile(heardMs, 0.99));
    } finally {
      for (const stream of streams) stream.close();
    }
  });
  return {
    bench: 'events',
    about: `A signal's event at each of ${BROWSERS} open connections to GET /api/events, half of them at the instance that did not take the signal`,
    figures: figures.all(),
    notes: [
      'The time runs from the sending of the signal, so its commit is part of it. Changes are gathered for a moment before they are told.',
      `${INSTANCES} instances on one PostgreSQL; ${BROWSERS / TABS_A_USER} administrators with ${TABS_A_USER} connections each.`,
    ],
  };
}

async function openBrowsers({ programs, client }: Cluster): Promise<TestStream[]> {
  const streams: TestStream[] = [];
  for (let user = 0; user < BROWSERS / TABS_A_USER; user += 1) {
    const username = `operator${user}@example.com`;
    await client.post('/api/admin/create-client', { username, password: PASSWORD, isAdmin: true });
    const cookie = await signIn(programs[0]?.url ?? '', username);
    for (let tab = 0; tab < TABS_A_USER; tab += 1) {
      const program = programs[streams.length % INSTANCES];
      const stream = await openStream(program?.url ?? '', cookie);
      if (stream.status !== 200) throw new Error(`An event stream was answered ${stream.status}`);
      streams.push(stream);
    }
  }
  return streams;
}

async function signIn(url: string, username: string): Promise<string> {
  const answer = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: PASSWORD }),
  });
  const [cookie] = answer.headers.getSetCookie();
  if (!answer.ok || cookie === undefined) throw new Error(`The sign-in was answered ${answer.status}`);
  return cookie.split(';')[0] ?? '';
}

/** When the stream told of the signal, in milliseconds since 1970. What it told before is forgotten. */
async function hears(stream: TestStream, signalId: string): Promise<number> {
  const at = await stream.wait(
    ({ heard }) =>
      heard.find(({ event, data }) => event === 'changes' && JSON.stringify(data).includes(signalId))?.at,
    HEARD_LIMIT_MS,
  );
  stream.heard.length = 0;
  return at;
}
