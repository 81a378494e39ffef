import type { CreateUserBody, User } from '#contract/users.ts';
import { ensureFirstAdministrator } from '#server/admin/users/ensure-first-administrator.ts';
import { type Clock, systemClock } from '#server/platform/clock.ts';
import { type Config, parseConfig } from '#server/platform/config/config.ts';
import { createLog } from '#server/platform/log.ts';
import { buildProgram } from '#server/program.ts';
import { signIn, type TestClient, testClient } from './test-client.ts';
import { createTestDatabase } from './test-database.ts';

export const ADMIN_USERNAME = 'admin@example.com';
export const ADMIN_PASSWORD = 'correct horse battery';
const USER_PASSWORD = 'a password of a user';

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
  webFolder?: string;
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
    ...options.config,
  };
  const program = await buildProgram({
    config,
    log,
    clock: options.clock ?? systemClock,
    database,
    ...(options.webFolder === undefined ? {} : { webFolder: options.webFolder }),
  });
  const { app, deps } = program;
  await (options.engine ? program.start() : ensureFirstAdministrator(deps));
  const admin = await signIn(app, ADMIN_USERNAME, ADMIN_PASSWORD);

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
      creator = await signIn(app, ADMIN_USERNAME, ADMIN_PASSWORD);
      answer = await create();
    }
    if (answer.statusCode !== 201) throw new Error(`No user was created: ${answer.body}`);
    const { user } = answer.json<{ user: User }>();
    const client = await signIn(app, body.username, body.password);
    return { user, username: body.username, password: body.password, client };
  }

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
    signIn: (username: string, password: string) => signIn(app, username, password),
    /** Everything that was logged so far. */
    logged: () => lines.join(''),
    async close() {
      await app.close();
      await program.stop();
      await close();
    },
  };
}
