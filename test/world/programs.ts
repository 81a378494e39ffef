import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { CreateUserBody, User } from '#contract/users.ts';
import { ensureFirstAdministrator } from '#server/admin/users/ensure-first-administrator.ts';
import { type Clock, systemClock } from '#server/platform/clock.ts';
import { type Config, parseConfig } from '#server/platform/config/config.ts';
import type { OpenDatabase } from '#server/platform/db/pool.ts';
import type { ReadDisk } from '#server/platform/free-space.ts';
import { createLog } from '#server/platform/log.ts';
import { type BackgroundPart, buildProgram, type Program } from '#server/program.ts';
import { signInOnly, type TestClient, testClient } from '../app/test-client.ts';
import { createTestDatabase, type TestDatabase } from '../app/test-database.ts';

export const ADMIN_USERNAME = 'admin@example.com';
export const ADMIN_PASSWORD = 'correct horse battery';
export const SECRET_KEY = 'a secret key of the tests, long enough';
const USER_PASSWORD = 'a password of a user';

/** At the full cost, hashing and checking passwords would be most of what a user costs. */
export const CHEAP_PASSWORDS = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** The start of dozens of workers would be most of what a start costs. */
const FEW_WORKERS = 2;
/** As many as the program has in operation. */
export const ALL_WORKERS = Number.POSITIVE_INFINITY;

/** Every signal is traded immediately; the paper exchange fills at once, so no order needs to be waited for. */
export const TRADING: WorldOptions = {
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
  id: string;
  user: User;
  username: string;
  password: string;
  client: TestClient;
}

/** One more instance of a world's program. */
export interface Instance extends Pick<Program, 'app' | 'deps'> {
  /** The administrator at this instance. */
  admin: TestClient;
  /** Stops the instance; its work in progress stays unfinished. */
  stop(): Promise<void>;
}

export interface WorldOptions {
  config?: Partial<Config>;
  clock?: Clock;
  /** By how many ms each instance's clock is behind the database and the exchange; negative: ahead. */
  behindMs?: readonly number[];
  /** Also runs workflows and orders; without the engine, deliveries are stored and wait. */
  engine?: boolean;
  /** With the engine: what also runs on timers of its own. Nothing, unless a test is about it. */
  background?: 'all' | readonly BackgroundPart[];
  /** Whole programs on one database. */
  instances?: number;
  webFolder?: string;
  /** Of each kind of job; a few unless a test is about more. */
  mostWorkers?: number;
  /** Closed with the world, and not taken away. Without it, the world makes a database and takes it away. */
  database?: OpenDatabase;
  /** The disk of the data folder. Half empty without it: tests do not depend on this machine's. */
  readDisk?: ReadDisk;
  /** False: administrators of live mode have no second factor, and can only set one up. */
  withFactors?: boolean;
}

export type World = Awaited<ReturnType<typeof startPrograms>>;

const endingWith = (database: OpenDatabase): Pick<TestDatabase, 'database' | 'close'> => ({
  database,
  async close(stop) {
    await stop?.();
    await database.close();
  },
});

/** The program on a database, with its first administrator: one or several instances. */
export async function startPrograms(options: WorldOptions) {
  const { clock = systemClock, behindMs = [], instances = 1 } = options;
  const { database, close } =
    options.database === undefined ? await createTestDatabase() : endingWith(options.database);
  const lines: string[] = [];
  const log = createLog({ level: 'debug', destination: { write: (line) => lines.push(line) } });
  const config: Config = {
    ...parseConfig({
      APP_ENV: 'development',
      ADMIN_USERNAME,
      ADMIN_PASSWORD,
      SECRET_KEY,
    }),
    passwordCost: CHEAP_PASSWORDS,
    ...options.config,
  };
  const clockOf = (index: number): Clock => {
    const behind = behindMs[index] ?? 0;
    return behind === 0 ? clock : { ...clock, now: () => new Date(clock.now().getTime() - behind) };
  };
  const programs: Program[] = [];
  for (let index = 0; index < instances; index += 1) {
    const program = await buildProgram({
      config: instances === 1 ? config : { ...config, instanceId: `instance-${index + 1}` },
      log,
      clock: clockOf(index),
      database,
      ...(options.webFolder === undefined ? {} : { webFolder: options.webFolder }),
      mostWorkers: options.mostWorkers ?? FEW_WORKERS,
      readDisk: options.readDisk ?? (async () => ({ bavail: 1, blocks: 2 })),
    });
    programs.push(program);
    await (options.engine
      ? program.start({ background: options.background ?? [] })
      : ensureFirstAdministrator(program.deps));
  }
  const [first] = programs;
  if (first === undefined) throw new Error('a world needs an instance');
  const { app, deps } = first;

  /** Signs in and steps the session up for good, unless a test is about the step-up. */
  async function signInTo(
    username: string,
    password: string,
    { stepUp = true, at = app } = {},
  ): Promise<TestClient> {
    const client = await signInOnly(at, { username, password, findCode: () => addRecoveryCode(username) });
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
    return { id: user.id, user, username: body.username, password: body.password, client };
  }

  /** Another instance on the same database; the test stops it. */
  const buildInstance = (more: Partial<Config> = {}, ofInstance: Clock = systemClock) =>
    buildProgram({
      config: { ...config, ...more },
      log: createLog({ level: 'silent' }),
      clock: ofInstance,
      database,
    });

  let stopping = Promise.resolve();
  /** Stops all instances that run. */
  const stopProgram = () => (stopping = stopping.then(stopAll));
  async function stopAll() {
    for (const program of [...programs]) await stopOne(program);
  }
  async function stopOne(program: Program) {
    const at = programs.indexOf(program);
    if (at < 0) return;
    programs.splice(at, 1);
    await program.app.close();
    await program.stop();
  }

  const setTrading = (userId: string, activeTrading: boolean) =>
    admin.put(`/api/admin/user/${userId}/active-trading`, { activeTrading });

  return {
    programs,
    /** Of the first program. */
    app,
    deps,
    database,
    db: database.db,
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
    buildInstance,
    /** Another instance on the same database, which stops with the world at the latest. */
    async startInstance(
      more: { engine?: boolean; config?: Partial<Config>; clock?: Clock } = {},
    ): Promise<Instance> {
      const config = { instanceId: `instance-${programs.length + 1}`, ...more.config };
      const program = await buildInstance(config, more.clock);
      programs.push(program);
      if (more.engine ?? true) await program.start({ background: [] });
      const { app, deps } = program;
      return { app, deps, admin: testClient(app, admin.cookie), stop: () => stopOne(program) };
    },
    signIn: signInTo,
    /** The administrator, signed in at another program. */
    async adminAt(index: number): Promise<TestClient> {
      const program = programs[index];
      if (program === undefined) throw new Error(`no instance ${index}`);
      return await signInTo(ADMIN_USERNAME, ADMIN_PASSWORD, { at: program.app });
    },
    /** Everything that was logged so far. */
    logged: () => lines.join(''),
    /** Lets a test look at what a stop leaves behind. */
    stopProgram,
    close: () => close(stopProgram),
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
