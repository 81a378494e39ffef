import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Webhook } from '#contract/hooks.ts';
import type { User } from '#contract/users.ts';
import { type ProgramClient, signIn } from '#demo/program-client.ts';
import { createRandom } from '#demo/random.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { migrateDatabase } from '#server/platform/db/migrate.ts';
import { type OpenDatabase, openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts';
import { createFaultExchange, type FaultExchange } from './fault-exchange.ts';
import { createInstance, type Instance } from './instance.ts';
import {
  type FaultPostgres,
  killPostmaster,
  newFolder,
  removeDataDir,
  startFaultPostgres,
} from './postgres.ts';

export const ADMIN = { username: 'admin@example.com', password: 'correct horse battery' };
const PASSWORD = 'a password of a trader';
const NO_DURABILITY = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200'];
/** Connections for several instances and their queues; the default fits one. */
const ROOM = ['max_connections=200'];
export const PRICE = '100';
const ACCEPTED_WITHOUT_ANSWER: VenueFault = {
  kind: 'cutAfterAccept',
  on: { operation: 'place-order', times: Number.POSITIVE_INFINITY },
};

export interface Trader {
  userId: string;
  accountId: string;
  platform: ExchangePlatform;
  /** The key of the trader's own webhook; null for traders who follow the administrator's signals. */
  hookKey: string | null;
  /** Whether faults can be set for this trader only; the others must not be affected (I8). */
  hasOwnFaults: boolean;
}

export interface StageOptions {
  seed: string;
  database: 'external' | 'embedded';
  instances?: number;
  traders?: number;
  /** Adds a trader whose orders are all accepted without an answer. */
  struckTrader?: boolean;
  tokens: number;
  /** The database for the exchange's books; a new server by default. */
  exchangeDatabase?: OpenDatabase;
}

const open = new Set<() => Promise<void>>();

/** Called on an interruption: removes all programs, databases and folders. */
export async function closeStages(): Promise<void> {
  await Promise.allSettled([...open].map((close) => close()));
}

/** The exchange, database, network and program of a scenario. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

export async function openStage(options: StageOptions) {
  const cleanUp = createCleanUp();
  const opening = buildStage(options, cleanUp);
  // An interrupted build fails at its next step, which is also undone.
  async function interrupt(): Promise<void> {
    await cleanUp.run();
    await opening.catch(() => undefined);
  }
  open.add(interrupt);
  async function close(): Promise<void> {
    open.delete(interrupt);
    await cleanUp.run();
  }
  try {
    return { ...(await opening), close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface CleanUp {
  /** Registers an undo; they run in reverse order. Once they are running, undoes immediately and throws. */
  add(undo: () => Promise<unknown>): Promise<void>;
  run(): Promise<void>;
}

function createCleanUp(): CleanUp {
  const steps: (() => Promise<unknown>)[] = [];
  let isRunning = false;
  return {
    async add(undo) {
      if (isRunning) {
        await undo();
        throw new Error('the stage is being closed');
      }
      steps.push(undo);
    },
    async run() {
      isRunning = true;
      for (const undo of steps.splice(0).reverse()) await undo();
    },
  };
}

async function buildStage(options: StageOptions, cleanUp: CleanUp) {
  const { seed, database, instances: count = 1, traders: wantedTraders = 0 } = options;
  const exchange = createFaultExchange(options.exchangeDatabase ?? (await openExchangeDatabase(cleanUp)));
  await cleanUp.add(() => exchange.close());
  const tokens = Array.from(
    { length: options.tokens },
    (_, index) => `F${String(index + 1).padStart(4, '0')}`,
  );
  for (const token of tokens) await exchange.push(token, PRICE);

  const postgres = database === 'external' ? await startFaultPostgres({ settings: ROOM }) : null;
  if (postgres) await cleanUp.add(() => postgres.close());
  const instances: Instance[] = [];
  const proxies: DatabaseProxy[] = [];
  let embeddedDir = '';
  for (let index = 0; index < count; index += 1) {
    const dataDir = await newFolder();
    embeddedDir = dataDir;
    await cleanUp.add(() => removeDataDir(dataDir));
    const env: Record<string, string> = programEnvironment(await exchange.listen(), index);
    if (postgres) {
      const proxy = await startDatabaseProxy(postgres.connection);
      proxies.push(proxy);
      await cleanUp.add(() => proxy.close());
      env.DATABASE_URL = `postgres://postgres@127.0.0.1:${proxy.port}/${postgres.connection.database}`;
    }
    const instance = createInstance({ port: await freePort(), env, dataDir });
    instances.push(instance);
    await cleanUp.add(async () => {
      instance.thaw();
      await instance.close();
    });
    await instance.start();
  }
  const [first] = instances;
  if (first === undefined) throw new Error('a stage needs an instance');
  const admin = readAgain(await signIn({ url: first.url, ...ADMIN }));
  const { hookKey } = await admin.post<Webhook>('/api/hooks', {});
  const traders: Trader[] = [];

  /** Adds a trader; without a platform, alternates between the exchanges. */
  const addTrader = async (wanted: { ownHook: boolean; ownFaults: boolean; platform?: ExchangePlatform }) => {
    const number = traders.length + 1;
    const trader = await createTrader({ url: first.url, admin, exchange, number, ...wanted });
    traders.push(trader);
    return trader;
  };

  for (let index = 0; index < wantedTraders; index += 1) {
    await addTrader({ ownHook: false, ownFaults: false });
  }
  if (options.struckTrader === true) {
    const { accountId } = await addTrader({ ownHook: false, ownFaults: true });
    exchange.setFaults(accountId, [ACCEPTED_WITHOUT_ANSWER]);
  }
  return {
    random: createRandom(seed),
    exchange,
    instances,
    first,
    /** One database proxy per instance; none with the embedded database. */
    proxies,
    /** The administrator, signed in at the first instance. */
    admin,
    hookKey,
    traders,
    /** Tokens that the exchange lists at PRICE; trade each only once. */
    tokens,
    addTrader,
    killDatabase: () => (postgres ? postgres.kill9() : killPostmaster(embeddedDir)),
    /** Only for an external database: the program starts its embedded one itself. */
    stopDatabase: () => owned(postgres).stop(),
    startDatabase: () => owned(postgres).start(),
  };
}

function owned(postgres: FaultPostgres | null): FaultPostgres {
  if (postgres === null) throw new Error('the program manages its embedded database itself');
  return postgres;
}

async function openExchangeDatabase(cleanUp: CleanUp): Promise<OpenDatabase> {
  const books = await startFaultPostgres({ settings: NO_DURABILITY });
  await cleanUp.add(() => books.close());
  const log = createLog({ level: 'silent' });
  await migrateDatabase({ connection: books.connection, log });
  const opened = openPool({ connection: books.connection, log });
  await cleanUp.add(() => opened.close());
  return opened;
}

/** Demo trading at the harness's exchange, with short waits for many trades in little time. */
const programEnvironment = (exchangeUrl: string, index: number): Record<string, string> => ({
  APP_ENV: 'production',
  EXCHANGE_MODE: 'demo',
  AUTO_TRADE: 'enabled',
  BITGET_BASE_URL: exchangeUrl,
  BYBIT_BASE_URL: exchangeUrl,
  EXCHANGE_TIMEOUT_MS: '2000',
  VERIFY_FIRST_MS: '300',
  VERIFY_SECOND_MS: '300',
  CANCEL_DELAY_MS: '200',
  SECRET_KEY: 'the secret of the fault harness, long enough',
  ADMIN_USERNAME: ADMIN.username,
  ADMIN_PASSWORD: ADMIN.password,
  WEBHOOK_RATE_LIMIT: '0',
  INSTANCE_ID: `instance-${index + 1}`,
});

async function createTrader(options: {
  url: string;
  admin: ProgramClient;
  exchange: FaultExchange;
  number: number;
  ownHook: boolean;
  ownFaults: boolean;
  platform?: ExchangePlatform;
}): Promise<Trader> {
  const { url, admin, exchange, number, ownHook, ownFaults } = options;
  const username = `trader${number}@example.com`;
  // Alternating, so two traders cover both exchanges.
  const inTurn = EXCHANGE_PLATFORMS[(number - 1) % EXCHANGE_PLATFORMS.length] ?? 'Bitget';
  const platform = options.platform ?? inTurn;
  const { user } = await admin.post<{ user: User }>('/api/admin/create-client', {
    username,
    password: PASSWORD,
  });
  const { accountId, credentials } = exchange.openAccount({ own: ownFaults });
  await admin.put(`/api/admin/user-settings/${user.id}`, {
    positionSizingMethod: 'Portfolio Allocation',
    // A small share of a large balance, enough for hundreds of trades.
    investmentPortion: '0.001',
    signalProcessor: 'Tesla',
    signalTimeframe: 'Any',
    exchangePlatform: platform,
  });
  const own = await signIn({ url, username, password: PASSWORD });
  const { apiKey, apiSecret, passphrase } = credentials;
  await own.put('/api/user-settings/exchange-credentials', {
    exchangePlatform: platform,
    apiKey,
    apiSecret,
    ...(platform === 'Bitget' ? { passphrase } : {}),
  });
  await admin.put(`/api/admin/user/${user.id}/active-trading`, { activeTrading: true });
  const hookKey = ownHook ? (await own.post<Webhook>('/api/hooks', {})).hookKey : null;
  return { userId: user.id, accountId, platform, hookKey, hasOwnFaults: ownFaults };
}

const PORTS = { from: 20_000, to: 32_000 };

/** Below the range from which systems take ports of outgoing connections: the port stays free until the start. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

const READ_AGAIN_MS = 500;
const READ_FOR_MS = 60_000;

/** Reads again while the program answers 503, as it may on a busy machine or just after a crash. */
function readAgain(client: ProgramClient): ProgramClient {
  const get: ProgramClient['get'] = async (path) => {
    const until = performance.now() + READ_FOR_MS;
    for (;;) {
      try {
        return await client.get(path);
      } catch (error) {
        const isAway = error instanceof Error && error.cause === 503;
        if (!isAway || performance.now() > until) throw error;
      }
      await sleep(READ_AGAIN_MS);
    }
  };
  return { ...client, get };
}
