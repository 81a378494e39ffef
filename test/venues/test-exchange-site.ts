import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import type { ExchangeCredentials, ExchangeEnvironment } from '#server/exchanges/exchange.ts';
import { paperAccount } from '#server/exchanges/paper/open-paper.ts';
import {
  paperAccounts,
  paperFills,
  paperPositions,
  paperTriggerOrders,
} from '#server/exchanges/paper/paper-schema.ts';
import { type Clock, systemClock } from '#server/platform/clock.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { jsonAnswer, type VenueAnswer, type VenueRequest } from '#test/venues/http.ts';
import { memoryMarks } from '#test/venues/memory-marks.ts';
import { listenVenue } from '#test/venues/server.ts';
import { createVenue } from '#test/venues/venue.ts';
import { TRADING_KEY, userIdOfVenueKey, type VenueKey } from '#test/venues/venue-credentials.ts';
import { createTestDatabase } from '../app/test-database.ts';
import { type PaperLedger, paperLedger } from './paper-ledger.ts';

export type SiteCredentials = Required<Omit<ExchangeCredentials, 'accountMode'>>;

/**
 * An exchange on its own address, with its own database, prices and API keys, in Bitget's and Bybit's dialect. Private
 * requests must be signed; Bitget's carry the demo header only in demo mode (Bybit's demo mode has a separate address).
 * In paper mode every user has an account, by a key that names the user.
 */
export interface ExchangeSite extends PaperLedger {
  url: string;
  /** Opens an account with this key; returns its id in the exchange's books. */
  addAccount(credentials: SiteCredentials): string;
  /** Issues another key for an account that has one, with the same secret. */
  addKey(accountId: string): SiteCredentials;
  /** The id of the key's account in the exchange's books. */
  accountOf(apiKey: string): string | undefined;
  /** Revokes the account's key; with credentials, issues another one in its place. */
  replaceKey(accountId: string, credentials?: SiteCredentials): void;
  /** Sets the permissions of the account's key and the kind of the account. */
  setKey(accountId: string, key: VenueKey): void;
  /** Sets the USDT balance of an account that has been used before. */
  setBalance(accountId: string, balance: string): Promise<void>;
  /** Makes the exchange forget a position, with its stops and how it was opened. */
  forgetPosition(accountId: string, token: string): Promise<void>;
  /** Sets a new price for the token. */
  push(token: string, price: string): Promise<void>;
  setFaults(faults: VenueFault[]): void;
  /** Disconnects or reconnects the exchange. */
  setReachable(reachable: boolean): void;
  /** Lets the exchange answer none of the account's requests to this path until the returned function is called. */
  hold(accountId: string, path: string): () => void;
  /** Private requests in order of arrival, each with its account. */
  requests: (VenueRequest & { userId: string | undefined })[];
  /** Makes every refusal repeat the whole request, as a careless exchange might. */
  repeatInRefusals(): void;
  close(): Promise<void>;
}

export async function startExchangeSite(options: {
  environment: ExchangeEnvironment;
  clock?: Clock;
  /** Listed from the start, each at 100. */
  tokens?: readonly string[];
}): Promise<ExchangeSite> {
  const isPaper = options.environment === 'paper';
  const { database, close } = await createTestDatabase();
  const { db } = database;
  const marks = memoryMarks();
  for (const token of options.tokens ?? []) marks.push(token, '100');
  const accounts = new Map<string, SiteCredentials & { id: string }>();
  const keys = new Map<string, VenueKey>();
  const requests: ExchangeSite['requests'] = [];
  const failures: unknown[] = [];
  let isReachable = true;
  /** Requests by account and path that wait for an answer. */
  const held = new Map<string, Promise<void>>();
  const accountOf = (apiKey: string) =>
    isPaper ? (userIdOfVenueKey(apiKey) ?? undefined) : accounts.get(apiKey)?.id;
  let repeats = false;
  const venue = createVenue({
    db,
    clock: options.clock ?? systemClock,
    marks,
    startBalance: '10000',
    credentialsFor: (id) => {
      if (isPaper) return paperAccount(id, 'classic').credentials;
      const found = [...accounts.values()].find((account) => account.id === id);
      return { ...(found ?? { apiKey: '', apiSecret: randomUUID() }), accountMode: 'classic' };
    },
    userIdOfKey: (apiKey) => accountOf(apiKey) ?? null,
    keyOf: (id) => keys.get(id) ?? TRADING_KEY,
    onError: (error) => failures.push(error),
  });

  async function handle(request: VenueRequest) {
    const { headers } = request;
    const apiKey = headers['access-key'] ?? headers['x-bapi-api-key'];
    const userId = apiKey === undefined ? undefined : accountOf(apiKey);
    if (apiKey !== undefined) requests.push({ ...request, userId });
    await held.get(`${userId} ${request.path}`);
    if (!isReachable) return { status: 200, headers: {}, body: '', delivery: 'cut' as const };
    const isDemo = headers.paptrading === '1';
    if (!isPaper && headers['access-key'] !== undefined && isDemo !== (options.environment === 'demo')) {
      return jsonAnswer(400, { code: '40099', msg: 'exchange environment is incorrect', data: null });
    }
    const answer = await venue.handle(request);
    if (!repeats || apiKey === undefined || !isRefusal(answer)) return answer;
    return { ...answer, body: repeating(answer.body, headers) };
  }

  const server = await listenVenue({ handle }, { port: 0 });
  return {
    url: server.url,
    requests,
    addAccount(credentials) {
      const id = randomUUID();
      accounts.set(credentials.apiKey, { ...credentials, id });
      return id;
    },
    addKey(accountId) {
      const first = [...accounts.values()].find(({ id }) => id === accountId);
      if (first === undefined) throw new Error(`the account ${accountId} has no key`);
      const { id: _id, ...secrets } = { ...first, apiKey: `key-${randomUUID()}` };
      accounts.set(secrets.apiKey, { ...secrets, id: accountId });
      return secrets;
    },
    accountOf,
    replaceKey(accountId, credentials) {
      for (const [key, { id }] of accounts) if (id === accountId) accounts.delete(key);
      if (credentials) accounts.set(credentials.apiKey, { ...credentials, id: accountId });
    },
    setKey: (accountId, key) => void keys.set(accountId, key),
    async setBalance(accountId, balance) {
      await db.update(paperAccounts).set({ balance }).where(eq(paperAccounts.userId, accountId));
    },
    async forgetPosition(accountId, token) {
      for (const table of [paperFills, paperTriggerOrders, paperPositions])
        await db.delete(table).where(and(eq(table.userId, accountId), eq(table.token, token)));
    },
    async push(token, price) {
      marks.push(token, price);
      await venue.settle(token);
    },
    setFaults: (faults) => venue.setFaults(faults),
    setReachable(reachable) {
      isReachable = reachable;
    },
    hold(accountId, path) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const key = `${accountId} ${path}`;
      held.set(key, promise);
      return () => {
        held.delete(key);
        resolve();
      };
    },
    repeatInRefusals() {
      repeats = true;
    },
    ...paperLedger(db),
    async close() {
      await server.close();
      await close();
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Bybit also refuses with HTTP 200. */
const isRefusal = ({ status, body }: VenueAnswer) =>
  status >= 400 || (/^{"retCode":/.test(body) && !/^{"retCode":0,/.test(body));

/** The refusal with all headers of the request, in the exchange's own envelope if it has one. */
function repeating(body: string, headers: Record<string, string>): string {
  const said = `${body} ${JSON.stringify(headers)}`;
  try {
    const envelope = JSON.parse(body) as { code?: unknown; retCode?: unknown };
    if (envelope.retCode !== undefined) return JSON.stringify({ ...envelope, retMsg: said, result: headers });
    return JSON.stringify({ code: String(envelope.code), msg: said, data: headers });
  } catch {
    return said;
  }
}
