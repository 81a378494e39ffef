import { parseArgs } from 'node:util';
import { backfill, findLast } from './backfill.ts';
import { simulateHistory } from './history.ts';
import type { Message } from './messages.ts';
import { deliver, ensureHookKey, signIn } from './program-client.ts';
import { runStream } from './stream.ts';
import { DEMO_TOKENS } from './tokens.ts';
import { ensureUsers } from './users.ts';
import { writeHistory } from './write-history.ts';

const HELP = `npm run demo -- [--seed TEXT] [--speed N]

A running system on paper, with six users and a made-up market of nine tokens. Nothing leaves this machine.

  --seed TEXT   another market; the same text gives the same one (1)
  --speed N     how many times as fast as the clock the market goes, 1 to 100 (15)

DATA_DIR (./data/demo) and PORT (3000) are read from the environment, and so are the other settings of
npm start, apart from those that would take the demo away from its own database and the paper exchange.
`;

const OTHER_ADMINISTRATOR =
  'The data folder has another administrator; set DATA_DIR to a folder of the demo or to a new one';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    speed: { type: 'string', default: '15' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const speed = Number(values.speed);

if (values.help) say(HELP);
else if (!(speed >= 1 && speed <= 100)) fail(`--speed is "${values.speed}"; it takes a number from 1 to 100`);
else {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  // The channel closes when npm run demo ends.
  process.on('disconnect', () => stop.abort());
  await run(stop.signal).catch((error: Error) => {
    // A delivery fails when the server ends; that is not an error while stopping.
    if (!stop.signal.aborted) fail(error.cause === 401 ? OTHER_ADMINISTRATOR : String(error.stack));
  });
}
process.disconnect?.();

async function run(signal: AbortSignal): Promise<void> {
  const { DEMO_URL: url = '', DEMO_USERNAME: username = '', DEMO_PASSWORD: password = '' } = process.env;
  const client = await signIn({ url, username, password });
  const { created } = await ensureUsers({ client, password });
  const key = await ensureHookKey({ client, password });
  const post = (message: Message) => deliver({ url, key, message });
  const rule = '─'.repeat(72);
  say(`
${rule}
  The demo of Signal Board is running

  Address     ${url}
  User name   ${username}
  Password    ${password}

  ${created > 0 ? `${created} users were created` : 'The users exist already'}; ada@example.com and the others have the same password.
${rule}
Posting the candles of the last days …`);

  const startMs = Date.now();
  const now = new Date();
  // Only at the first start: later ones have a history of their own.
  const dataDir = process.env.DATA_DIR ?? '';
  if (created > 0 && dataDir !== '') {
    const { timeZone } = await client.get<{ timeZone: string }>('/api/performance');
    const signals = simulateHistory({ seed: values.seed, now });
    const written = await writeHistory({ dataDir, signals, now, timeZone });
    if (written > 0)
      say(`${written} closed trades of the last six weeks were made up, for Overview and Performance.`);
  }
  const markets = await Promise.all(
    DEMO_TOKENS.map(async (token) => {
      const last = await findLast(client, token);
      const { market, messages } = backfill({ token, seed: values.seed, now, last });
      // Sequentially: the newest candle must arrive last, because it sets the token's price.
      for (const message of messages) if (!signal.aborted) await post(message);
      return market;
    }),
  );
  say(`… done in ${((Date.now() - startMs) / 1000).toFixed(1)} s.`);
  say(`The market runs ${speed} times as fast as the clock. Ctrl-C stops everything.`);
  const sayWithTime = (line: string) => say(`${new Date().toTimeString().slice(0, 8)}  ${line}`);
  await runStream({ markets, deliver: post, speed, signal, say: sayWithTime });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(text: string): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
