import type { Page } from '@playwright/test';
import { TRADING_KEY } from '#test/venues/venue-credentials.ts';
import { type ExchangeSite, newSiteCredentials, startExchangeSite } from './exchange-site.ts';
import { test as base, expect } from './fixtures.ts';

interface ExchangeFixtures {
  /** The exchange that the server reaches over HTTP; reset after each test. */
  exchange: ExchangeSite;
}

interface ConnectedTrader {
  id: string;
  username: string;
  credentials: ReturnType<typeof newSiteCredentials>;
  /** A page of a separate browser, signed in. */
  browser: Page;
}

/** Stores a key of the exchange for the user who is signed in on the page. */
export async function connectOwn(page: Page, credentials = newSiteCredentials()) {
  const answer = await page.request.put('/api/user-settings/exchange-credentials', {
    data: { exchangePlatform: 'Bitget', ...credentials },
  });
  expect(answer.status(), await answer.text()).toBe(200);
  return credentials;
}

/** Tests with a server in demo mode on its own exchange; `env` adds settings. */
export function testsOnExchange(env: Record<string, string> = {}) {
  return base.extend<{ calm: undefined; trader: ConnectedTrader }, ExchangeFixtures & { books: undefined }>({
    exchange: [
      // biome-ignore lint/correctness/noEmptyPattern: the runner reads the fixtures that are needed from the pattern
      async ({}, use) => {
        const site = await startExchangeSite();
        await use(site);
        await site.close();
      },
      { scope: 'worker' },
    ],
    serverEnv: [
      async ({ exchange }, use) => {
        await use({
          EXCHANGE_MODE: 'demo',
          BITGET_BASE_URL: exchange.url,
          BYBIT_BASE_URL: exchange.url,
          EXCHANGE_TIMEOUT_MS: '2000',
          ...env,
        });
      },
      { scope: 'worker' },
    ],
    books: [
      async ({ exchange, server }, use) => {
        await exchange.openBooks(server);
        await use(undefined);
        await exchange.closeBooks();
      },
      { scope: 'worker', auto: true },
    ],
    /** A user with a separate exchange account. */
    trader: async ({ operator, openBrowser, signIn }, use) => {
      const user = await operator.createUser({
        settings: { positionSizingMethod: 'Risk Management' },
        activeTrading: true,
      });
      const browser = await openBrowser();
      await signIn(browser, user);
      const credentials = await connectOwn(browser);
      await use({ id: user.id, username: user.username, credentials, browser });
    },
    calm: [
      async ({ exchange }, use) => {
        await use(undefined);
        exchange.setAway(false);
        exchange.setFaults([]);
        exchange.setKey(TRADING_KEY);
      },
      { auto: true },
    ],
  });
}

/* Files that use the same variant share the servers of their workers. */

/** The server places manual orders only. */
export const exchangeTest = testsOnExchange();
/** The server trades automatically. */
export const automaticTest = testsOnExchange({ AUTO_TRADE: 'enabled' });
