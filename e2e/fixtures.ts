import { test as base, expect, type Locator, type Page } from '@playwright/test';
import { type ProgramClient, signIn as signInClient } from '#demo/program-client.ts';
import { examine } from './axe.ts';
import { type BrowserProblems, collectBrowserProblems, type ExpectedFailure } from './browser-problems.ts';
import { enrolWhereRequired } from './enrol-factor.ts';
import { type ManagedServer, startManagedServer } from './managed-server.ts';
import { createOperator, type NewUser, type Operator } from './operator.ts';

export { expect };

/** Short verification waits, so a workflow ends within a second. */
const SHORT_WAITS = { VERIFY_FIRST_MS: '300', VERIFY_SECOND_MS: '300', CANCEL_DELAY_MS: '100' };

/* Files with the same settings share the servers of their workers. */

/**
 * Signals are recorded but not traded, so a test starts workflows and orders explicitly. An order stays in progress until
 * the test ends its wait (`endWaits`).
 */
export const DEVELOPMENT = {
  APP_ENV: 'development',
  VERIFY_FIRST_MS: '120000',
  WEBHOOK_RATE_LIMIT: '0',
};

/** A time zone without summer time: two days from now is the same clock time everywhere. */
export const TOKYO = { DISPLAY_TIMEZONE: 'Asia/Tokyo', INSTANCE_ID: 'the-instance-with-a-very-long-name' };

interface Fixtures {
  /** Whether the page of a test starts signed in, as the administrator. */
  startsSignedIn: boolean;
  /** A new ordinary user, signed in on the page instead of the administrator. */
  user: NewUser;
  /** Signs a user in (the administrator, unless another is named) without going through the login screen. */
  signIn: (page: Page, credentials?: { username: string; password: string }) => Promise<void>;
  problems: BrowserProblems;
  /** Declares a failing call as part of the journey; any other console error fails the journey. */
  expectFailure: (failure: ExpectedFailure) => void;
  /** A page with separate cookies, for another user. */
  openBrowser: () => Promise<Page>;
  /** Looks for serious axe findings in both schemes and for overflow on a phone; they fail the test at its end. */
  scan: (place: string, part?: Locator) => Promise<void>;
}

interface WorkerFixtures {
  /** Settings of the worker's server, changed with `test.use` at the top of a file. */
  serverEnv: Record<string, string>;
  /** The real program, one for each worker; the journeys of a worker share its data. */
  server: ManagedServer;
  /** Signs the administrator in at its first call. All pages that start signed in share the session. */
  administrator: () => Promise<ProgramClient>;
  operator: Operator;
}

const credentialsOf = ({ adminUsername, adminPassword }: ManagedServer) => ({
  username: adminUsername,
  password: adminPassword,
});

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

  administrator: [
    async ({ server }, use) => {
      let signingIn: Promise<ProgramClient> | null = null;
      await use(() => {
        signingIn ??= signInClient({ url: server.url, ...credentialsOf(server) }).then(enrolWhereRequired);
        return signingIn;
      });
    },
    { scope: 'worker' },
  ],

  operator: [
    async ({ administrator, server }, use) => {
      await use(createOperator({ client: await administrator(), origin: server.url }));
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

  startsSignedIn: [true, { option: true }],

  context: async ({ context, problems, administrator, startsSignedIn, server }, use) => {
    problems.watch(context);
    if (startsSignedIn) {
      const client = await administrator();
      // An earlier test of the worker may have confirmed more than five minutes ago.
      await client.post('/api/auth/step-up', { password: server.adminPassword });
      const [name = '', value = ''] = client.cookie().split('=');
      await context.addCookies([{ name, value, url: server.url }]);
    }
    await use(context);
  },

  user: async ({ page, operator, signIn }, use) => {
    const user = await operator.createUser();
    await signIn(page, user);
    await use(user);
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
      // A sign-in ends the session of the cookie that comes with it, which other tests share.
      await page.context().clearCookies();
      // The page's own request context, so the page gets the session cookie.
      const data = credentials ?? credentialsOf(server);
      const answer = await page.request.post('/api/auth/login', { data });
      if (answer.ok()) {
        await page.request.post('/api/auth/step-up', { data: { password: data.password } });
        return;
      }
      throw new Error(`Sign-in of ${data.username} failed: ${answer.status()} ${await answer.text()}`);
    });
  },

  scan: async ({ page }, use) => {
    // Contrast cannot be measured halfway through a colour transition.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const findings: string[] = [];
    await use(async (place, part) => void findings.push(...(await examine(page, place, part))));
    expect(findings).toEqual([]);
  },
});
