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
  return {
    app,
    deps,
    database,
    config,
    anonymous: testClient(app),
    /** Signed in as the first administrator. */
    admin,
    /** Creates a user through the API and signs the user in. */
    async createUser(fields: Partial<CreateUserBody> = {}): Promise<TestUser> {
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
    },
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
