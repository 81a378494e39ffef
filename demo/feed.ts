import { parseArgs } from 'node:util';
import { postBackfills, prepareBackfills } from './backfill.ts';
import type { Message } from './messages.ts';
import { deliver, type ProgramClient, RefusedError, signIn } from './program-client.ts';
import { ensureHookKey, ensureUsers } from './set-up.ts';
import { runStream } from './stream.ts';

const HELP = `npm run demo -- [--seed TEXT] [--speed N]

A running system on paper, with six users and a made-up market of nine tokens. Nothing leaves this machine.

  --seed TEXT   another market; the same text gives the same one (1)
  --speed N     how many times as fast as the clock the market goes, 1 to 100 (15)

DATA_DIR (./data/demo) and PORT (3000) are read from the environment, and so are the other settings of
npm start, apart from those that would take the demo away from its own database and the paper exchange.
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    speed: { type: 'string', default: '15' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const speed = Number(values.speed);

if (values.help) process.stdout.write(HELP);
else if (!(speed >= 1 && speed <= 100)) {
  fail(`--speed is "${values.speed}"; it takes a number from 1 to 100`);
  process.disconnect?.();
} else {
  const stop = new AbortController();
  await main(stop).catch((error: unknown) => {
    // A delivery that a Ctrl-C cut off is no failure.
    if (!stop.signal.aborted) explain(error);
  });
  process.disconnect?.();
}

async function main(stop: AbortController): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  // Whoever started the feed is gone, and so is the program that it fed.
  process.on('disconnect', () => stop.abort());
  const url = required('DEMO_URL');
  const password = required('DEMO_PASSWORD');
  const username = required('DEMO_USERNAME');

  const client = await signIn({ url, username, password });
  const { created } = await ensureUsers({ client, password, now: new Date() });
  const key = await ensureHookKey({ client, password });
  const post = (message: Message) => deliver({ url, key, message });
  say(notice({ url, username, password, created }));

  const markets = await fill({ client, post, signal: stop.signal });
  say(`The market goes ${speed} times as fast as the clock. Ctrl-C stops everything.`);
  await runStream({ markets, deliver: post, speed, signal: stop.signal, say: sayWithTime });
}

async function fill(options: {
  client: ProgramClient;
  post: (message: Message) => Promise<unknown>;
  signal: AbortSignal;
}) {
  const { client, post, signal } = options;
  const startedAt = Date.now();
  const backfills = await prepareBackfills({ client, seed: values.seed, now: new Date() });
  const count = backfills.reduce((sum, { messages }) => sum + messages.length, 0);
  say(`Posting ${count.toLocaleString('en')} candles of the days before …`);
  await postBackfills({ backfills, post, signal });
  say(`… done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
  return backfills.map(({ market }) => market);
}

function notice(options: { url: string; username: string; password: string; created: number }): string {
  const rule = '─'.repeat(72);
  const rows = [
    ['Address', options.url],
    ['User name', options.username],
    ['Password', options.password],
  ].map(([name = '', value = '']) => `  ${name.padEnd(12)}${value}`);
  const users = options.created > 0 ? `${options.created} users were created` : 'The users are there already';
  const remark = `  ${users}; ada@example.com and the others have the same password.`;
  return ['', rule, '  The demo of Signal Board is running', '', ...rows, '', remark, rule].join('\n');
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is unset; the feed is started by npm run demo`);
  return value;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function sayWithTime(line: string): void {
  say(`${new Date().toTimeString().slice(0, 8)}  ${line}`);
}

function explain(error: unknown): void {
  if (error instanceof RefusedError && error.status === 401) {
    fail('The data folder has another administrator; set DATA_DIR to a folder of the demo or to a new one');
  } else fail(error instanceof Error ? String(error.stack) : String(error));
}

function fail(text: string): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
