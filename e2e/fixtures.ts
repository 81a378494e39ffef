import { test as base, type Page } from '@playwright/test';
import { startServerProcess, type TestServerProcess } from '#test/test-server-process.ts';

export { expect } from '@playwright/test';

interface Fixtures {
  /** Signs a user in (the administrator, unless another is named) without going through the login screen. */
  signIn: (page: Page, credentials?: { username: string; password: string }) => Promise<void>;
}

interface WorkerFixtures {
  /** Settings of the worker's server, changed with `test.use` at the top of a file. */
  serverEnv: Record<string, string>;
  /** The real program, one for each worker; specs of one worker share its data. */
  server: TestServerProcess;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  serverEnv: [{}, { option: true, scope: 'worker' }],

  server: [
    async ({ serverEnv }, use) => {
      const server = await startServerProcess({ env: serverEnv });
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],

  baseURL: async ({ server }, use) => {
    await use(server.url);
  },

  signIn: async ({ server }, use) => {
    await use(async (page, credentials) => {
      const { username, password } = credentials ?? {
        username: server.adminUsername,
        password: server.adminPassword,
      };
      // The page's own request context: the session cookie of the answer is then the page's cookie.
      const answer = await page.request.post(`${server.url}/api/auth/login`, {
        data: { username, password },
        headers: { origin: server.url },
      });
      if (!answer.ok())
        throw new Error(`Sign-in of ${username} failed: ${answer.status()} ${await answer.text()}`);
    });
  },
});
