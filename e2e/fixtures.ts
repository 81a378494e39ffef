import { test as base, expect, type Page } from '@playwright/test';
import { type BrowserProblems, collectBrowserProblems, type ExpectedFailure } from './browser-problems.ts';
import { type ManagedServer, startManagedServer } from './managed-server.ts';
import { type Operator, signInOperator } from './operator.ts';

export { expect };

/** Short verification waits, so a workflow ends within a second. */
const SHORT_WAITS = { VERIFY_FIRST_MS: '300', VERIFY_SECOND_MS: '300', CANCEL_DELAY_MS: '100' };

/* Files with the same settings share the servers of their workers. */

/**
 * Signals are recorded but not traded, so a test starts workflows explicitly. A workflow that places an order stays in
 * progress for the rest of the test.
 */
export const DEVELOPMENT = {
  APP_ENV: 'development',
  VERIFY_FIRST_MS: '120000',
  WEBHOOK_RATE_LIMIT: '0',
};

/** Manual orders only; each stays in progress long enough for a page reload. */
export const BY_HAND = { APP_ENV: 'development', VERIFY_FIRST_MS: '2500' };

/** A time zone without summer time: two days from now is the same clock time everywhere. */
export const TOKYO = { DISPLAY_TIMEZONE: 'Asia/Tokyo', INSTANCE_ID: 'the-instance-with-a-very-long-name' };

interface Fixtures {
  /** Signs a user in (the administrator, unless another is named) without going through the login screen. */
  signIn: (page: Page, credentials?: { username: string; password: string }) => Promise<void>;
  problems: BrowserProblems;
  /** Declares a failing call as part of the journey; any other console error fails the journey. */
  expectFailure: (failure: ExpectedFailure) => void;
  /** A page with separate cookies, for another user. */
  openBrowser: () => Promise<Page>;
}

interface WorkerFixtures {
  /** Settings of the worker's server, changed with `test.use` at the top of a file. */
  serverEnv: Record<string, string>;
  /** The real program, one for each worker; the journeys of a worker share its data. */
  server: ManagedServer;
  operator: Operator;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  serverEnv: [{}, { option: true, scope: 'worker' }],

  server: [
    async ({ serverEnv }, use) => {
      const server = await startManagedServer({ ...SHORT_WAITS, ...serverEnv });
      await use(server);
      await server.remove();
    },
    { scope: 'worker', timeout: 60_000 },
  ],

  operator: [
    async ({ playwright, server }, use) => {
      const request = await playwright.request.newContext();
      await use(await signInOperator({ request, server }));
      await request.dispose();
    },
    { scope: 'worker' },
  ],

  baseURL: async ({ server }, use) => {
    await use(server.url);
  },

  // biome-ignore lint/correctness/noEmptyPattern: the runner reads the fixtures that are needed from the pattern
  problems: async ({}, use) => {
    const problems = collectBrowserProblems();
    await use(problems);
    expect(problems.unexpected(), 'errors in the browser').toEqual([]);
  },

  context: async ({ context, problems }, use) => {
    problems.watch(context);
    await use(context);
  },

  expectFailure: async ({ problems }, use) => {
    await use(problems.expectFailure);
  },

  openBrowser: async ({ browser, contextOptions, server, problems }, use) => {
    const contexts: { close: () => Promise<void> }[] = [];
    await use(async () => {
      const context = await browser.newContext({ ...contextOptions, baseURL: server.url });
      contexts.push(context);
      problems.watch(context);
      return await context.newPage();
    });
    for (const context of contexts) await context.close();
  },

  signIn: async ({ server }, use) => {
    await use(async (page, credentials) => {
      const { username, password } = credentials ?? {
        username: server.adminUsername,
        password: server.adminPassword,
      };
      // The page's own request context, so the page gets the session cookie.
      const answer = await page.request.post(`${server.url}/api/auth/login`, {
        data: { username, password },
        headers: { origin: server.url },
      });
      if (!answer.ok())
        throw new Error(`Sign-in of ${username} failed: ${answer.status()} ${await answer.text()}`);
    });
  },
});
