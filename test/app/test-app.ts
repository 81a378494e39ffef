import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { CreateUserBody, User } from '#contract/users.ts';
import { ensureFirstAdministrator } from '#server/admin/users/ensure-first-administrator.ts';
import { type Clock, systemClock } from '#server/platform/clock.ts';
import { type Config, parseConfig } from '#server/platform/config/config.ts';
import type { ReadDisk } from '#server/platform/free-space.ts';
import { createLog } from '#server/platform/log.ts';
import { type BackgroundPart, buildProgram } from '#server/program.ts';
import { signInOnly, type TestClient, testClient } from './test-client.ts';
import { createTestDatabase } from './test-database.ts';

export const ADMIN_USERNAME = 'admin@example.com';
export const ADMIN_PASSWORD = 'correct horse battery';
const USER_PASSWORD = 'a password of a user';

/** At the full cost, hashing and checking passwords would be most of what a user costs. */
export const CHEAP_PASSWORDS = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** The start of dozens of workers would be most of what a start costs. */
const FEW_WORKERS = 2;

/** Every signal is traded immediately; the paper exchange fills at once, so no order needs to be waited for. */
export const TRADING: TestAppOptions = {
  engine: true,
  config: {
    appEnv: 'production',
    autoTrade: { enabled: true, configured: true },
    verifyFirstMs: 0,
    verifySecondMs: 0,
    cancelDelayMs: 0,
  },
};

export interface TestUser {
  user: User;
  username: string;
  password: string;
  client: TestClient;
}

export interface TestAppOptions {
  config?: Partial<Config>;
  clock?: Clock;
  /** Also runs workflows and orders; without the engine, deliveries are stored and wait. */
  engine?: boolean;
  /** With the engine: what also runs on timers of its own. Nothing, unless a test is about it. */
  background?: readonly BackgroundPart[];
  webFolder?: string;
  /** Of each kind of job; a few unless a test is about more. */
  mostWorkers?: number;
  /** The disk of the data folder. Half empty without it: tests do not depend on this machine's. */
  readDisk?: ReadDisk;
  /** False: administrators of live mode have no second factor, and can only set one up. */
  withFactors?: boolean;
}

export type TestApp = Awaited<ReturnType<typeof startTestApp>>;

/** The real app on its own database, with its first administrator. */
export async function startTestApp(options: TestAppOptions = {}) {
  const { database, close } = await createTestDatabase();
  const lines: string[] = [];
  const log = createLog({ level: 'debug', destination: { write: (line) => lines.push(line) } });
  const config: Config = {
    ...parseConfig({
      APP_ENV: 'development',
      ADMIN_USERNAME,
      ADMIN_PASSWORD,
      SECRET_KEY: 'a secret key of the tests, long enough',
    }),
    passwordCost: CHEAP_PASSWORDS,
    ...options.config,
  };
  const program = await buildProgram({
    config,
    log,
    clock: options.clock ?? systemClock,
    database,
    ...(options.webFolder === undefined ? {} : { webFolder: options.webFolder }),
    mostWorkers: options.mostWorkers ?? FEW_WORKERS,
    readDisk: options.readDisk ?? (async () => ({ bavail: 1, blocks: 2 })),
  });
  const { app, deps } = program;
  await (options.engine
    ? program.start({ background: options.background ?? [] })
    : ensureFirstAdministrator(deps));

  /** Signs in and steps the session up for good, unless a test is about the step-up. */
  async function signInTo(username: string, password: string, { stepUp = true } = {}): Promise<TestClient> {
    const client = await signInOnly(app, { username, password, findCode: () => addRecoveryCode(username) });
    const tokenHash = createHash('sha256')
      .update(client.cookie.replace(/^[^=]*=/, ''))
      .digest();
    const until = stepUp ? new Date('9999-01-01T00:00:00Z') : null;
    await database.pool.query('update sessions set step_up_until = $2 where token_hash = $1', [
      tokenHash,
      until,
    ]);
    return client;
  }

  /** A recovery code that this user can use once. */
  async function addRecoveryCode(username: string): Promise<string> {
    const code = randomBytes(10).toString('hex').toUpperCase();
    await database.pool.query(
      'insert into recovery_codes (user_id, code_hash) select id, $2 from users where username = $1',
      [username, createHash('sha256').update(code).digest()],
    );
    return code;
  }

  const admin = await signInTo(ADMIN_USERNAME, ADMIN_PASSWORD);
  if (options.withFactors ?? true) await giveFactors(database.pool, config);

  let creator = admin;
  let created = 0;

  /** Creates a user through the API and signs the user in. */
  async function createUser(fields: Partial<CreateUserBody> = {}): Promise<TestUser> {
    created += 1;
    const body = { username: `user${created}@example.com`, password: USER_PASSWORD, ...fields };
    const create = () => creator.post('/api/admin/create-client', body);
    let answer = await create();
    if (answer.statusCode === 401) {
      // The test moved the clock past the end of the session.
      creator = await signInTo(ADMIN_USERNAME, ADMIN_PASSWORD);
      answer = await create();
    }
    if (answer.statusCode !== 201) throw new Error(`No user was created: ${answer.body}`);
    const { user } = answer.json<{ user: User }>();
    if (options.withFactors ?? true) await giveFactors(database.pool, config);
    const client = await signInTo(body.username, body.password);
    return { user, username: body.username, password: body.password, client };
  }

  let stopping: Promise<void> | null = null;
  const stopProgram = () => (stopping ??= app.close().then(() => program.stop()));

  const setTrading = (userId: string, activeTrading: boolean) =>
    admin.put(`/api/admin/user/${userId}/active-trading`, { activeTrading });

  return {
    app,
    deps,
    database,
    config,
    anonymous: testClient(app),
    /** Signed in as the first administrator. */
    admin,
    createUser,
    setTrading,
    /** A user with active trading. */
    async createTrader(settings: object = {}): Promise<TestUser> {
      const trader = await createUser();
      const { id } = trader.user;
      const wanted = { positionSizingMethod: 'Risk Management', ...settings };
      const saved = await admin.put(`/api/admin/user-settings/${id}`, wanted);
      const switched = await setTrading(id, true);
      if (saved.statusCode !== 200 || switched.statusCode !== 200)
        throw new Error(saved.body + switched.body);
      return trader;
    },
    /** The rows of a statement. */
    query: async (text: string, values: unknown[] = []) => (await database.pool.query(text, values)).rows,
    /** Another instance on the same database; the test stops it. */
    buildInstance: (more: Partial<Config> = {}) =>
      buildProgram({
        config: { ...config, ...more },
        log: createLog({ level: 'silent' }),
        clock: systemClock,
        database,
      }),
    signIn: signInTo,
    /** Everything that was logged so far. */
    logged: () => lines.join(''),
    /** Lets a test look at what a stop leaves behind. */
    stopProgram,
    async close() {
      await stopProgram();
      await close();
    },
  };
}

/** Gives all administrators of live mode a passkey that nobody holds: they sign in with recovery codes. */
async function giveFactors(pool: pg.Pool, { exchangeMode }: Config): Promise<void> {
  if (exchangeMode !== 'live') return;
  await pool.query(
    `insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports, created_at)
     select gen_random_uuid(), id, 'Of the tests', id::text, '', 0, '{}', now() from users where is_admin
     on conflict do nothing`,
  );
}
