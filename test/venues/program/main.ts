import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrateDatabase } from '#server/platform/db/migrate.ts';
import { openDatabase } from '#server/platform/db/pool.ts';
import { StartError } from '#server/platform/db/start-error.ts';
import { createLog } from '#server/platform/log.ts';
import { startVenueProgram, type VenueProgram } from './program.ts';

const HELP = `npm run paper-exchange -- [--port N] [--seed TEXT] [--walk-ms N] [--balance N] [--limits documented]

A simulated exchange on a loopback port: the REST dialects of Bitget (classic and unified
accounts) and Bybit, with its own database, prices of a
seeded walk, and faults on request.

  --port N               4010, or PORT
  --seed TEXT            another market; the same text gives the same one (1)
  --walk-ms N            how often the prices move, in milliseconds; 0: only when they are set (1000)
  --balance N            USDT that a new account holds (10000)
  --limits documented    enforces the request limits that the exchanges document (none)
  --data-dir FOLDER      where its database lies (./data/paper-exchange)
  --database-url URL     an external PostgreSQL instead, which must hold nothing else

  curl -d '{"BTC": "64000"}' http://127.0.0.1:4010/paper/prices
  curl -d '[{"kind": "cutAfterAccept", "on": {"operation": "place-order"}}]' http://127.0.0.1:4010/paper/faults
  curl http://127.0.0.1:4010/paper/ledger
  curl -X POST http://127.0.0.1:4010/paper/keys     the keys of another account
  curl -d '{"accountMode": "unified"}' http://127.0.0.1:4010/paper/keys     of one that is unified at Bitget
`;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: process.env.PORT || '4010' },
    seed: { type: 'string', default: '1' },
    'walk-ms': { type: 'string', default: '1000' },
    balance: { type: 'string', default: '10000' },
    limits: { type: 'string', default: 'none' },
    'data-dir': { type: 'string', default: join('data', 'paper-exchange') },
    'database-url': { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

function numberOf(name: 'port' | 'walk-ms' | 'balance', most: number): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new StartError(`--${name} is "${values[name]}"; it takes a whole number up to ${most}`);
}

function readLimits(): 'none' | 'documented' {
  const { limits } = values;
  if (limits === 'none' || limits === 'documented') return limits;
  throw new StartError(`--limits is "${limits}"; it takes documented or none`);
}

const notice = ({ url, keys, unifiedKeys }: VenueProgram) => `
The paper exchange takes orders as Bitget and as Bybit. In the program's settings:

  EXCHANGE_MODE=demo
  BITGET_BASE_URL=${url}
  BYBIT_BASE_URL=${url}

A key pair for either of them, to be entered under Settings (the passphrase is Bitget's):

  API key      ${keys.apiKey}
  Secret       ${keys.apiSecret}
  Passphrase   ${keys.passphrase}

A key pair of a unified account at Bitget:

  API key      ${unifiedKeys.apiKey}
  Secret       ${unifiedKeys.apiSecret}
  Passphrase   ${unifiedKeys.passphrase}

Prices, faults and books: ${url}/paper/prices, /paper/faults, /paper/ledger (--help shows how)
`;

/** A signal may arrive twice, from the terminal and from npm: the second one must not interrupt the shutdown. */
const askedToStop = () =>
  new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve());
    // If started with an IPC channel, stops when it closes.
    process.on('disconnect', () => resolve());
  });

async function main(): Promise<void> {
  const asked = askedToStop();
  const log = createLog({ level: 'warn' });
  const [port, walkEveryMs, balance] = [
    numberOf('port', 65_535),
    numberOf('walk-ms', 3_600_000),
    numberOf('balance', 1_000_000_000),
  ];
  const limits = readLimits();
  const config = { databaseUrl: values['database-url'] ?? null, dataDir: values['data-dir'] };
  const database = await openDatabase({ config, log });
  try {
    await migrateDatabase({ connection: database.connection, log });
    const program = await startVenueProgram({
      database,
      port,
      seed: values.seed,
      walkEveryMs,
      startBalance: String(balance),
      limits,
      onError: (error) => log.error({ err: error }, 'the paper exchange could not settle an account'),
    });
    process.stdout.write(notice(program));
    await asked;
    await program.close();
  } finally {
    await database.close();
  }
}

if (values.help) process.stdout.write(HELP);
else {
  await main().catch((error: unknown) => {
    const isExpected = error instanceof StartError || (error as { code?: unknown }).code === 'EADDRINUSE';
    process.stderr.write(`${isExpected ? (error as Error).message : (error as Error).stack}\n`);
    process.exitCode = 1;
  });
}
