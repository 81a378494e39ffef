import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { ExchangeCredentials, ExchangeEnvironment } from '#server/exchanges/exchange.ts';
import type { PaperFault } from '#server/exchanges/paper/faults.ts';
import { memoryMarks } from '#server/exchanges/paper/memory-marks.ts';
import { createPaperExchange } from '#server/exchanges/paper/paper-exchange.ts';
import { jsonResponse, type PaperRequest } from '#server/exchanges/paper/paper-http.ts';
import { paperAccounts } from '#server/exchanges/paper/paper-schema.ts';
import { listenPaperExchange } from '#server/exchanges/paper/server.ts';
import { type PaperLedger, paperLedger } from './paper-ledger.ts';
import { createTestDatabase } from './test-database.ts';

export type SiteCredentials = Required<Omit<ExchangeCredentials, 'accountMode'>>;

/**
 * An exchange on an address of its own, with its own database, prices and API keys: what the program calls in demo
 * and live mode. Private requests must be signed, and carry the demo header in demo mode alone.
 */
export interface ExchangeSite extends PaperLedger {
  url: string;
  /** Opens an account with this key; answers its id in the exchange's books. */
  addAccount(credentials: SiteCredentials): string;
  /** What an account that was used before holds, in USDT. */
  setBalance(accountId: string, balance: string): Promise<void>;
  /** A new price of the token. */
  push(token: string, price: string): Promise<void>;
  setFaults(faults: PaperFault[]): void;
  /** Private requests that came, in order. */
  requests: PaperRequest[];
  /** Every refusal repeats all that the request carried, as a careless exchange might. */
  repeatInRefusals(): void;
  close(): Promise<void>;
}

export async function startExchangeSite(options: {
  environment: Exclude<ExchangeEnvironment, 'paper'>;
}): Promise<ExchangeSite> {
  const { database, close } = await createTestDatabase();
  const { db } = database;
  const marks = memoryMarks();
  const accounts = new Map<string, SiteCredentials & { id: string }>();
  const requests: PaperRequest[] = [];
  const failures: unknown[] = [];
  let repeats = false;
  const paper = createPaperExchange({
    db,
    clock: { now: () => new Date() },
    marks,
    startBalance: '10000',
    credentialsFor: (id) => {
      const found = [...accounts.values()].find((account) => account.id === id);
      return { ...(found ?? { apiKey: '', apiSecret: randomUUID() }), accountMode: 'classic' };
    },
    onError: (error) => failures.push(error),
  });

  async function handle(request: PaperRequest) {
    const { headers } = request;
    const key = headers['access-key'];
    if (key === undefined) return paper.handle(request);
    requests.push(request);
    if ((headers.paptrading === '1') !== (options.environment === 'demo')) {
      return jsonResponse(400, { code: '40099', msg: 'exchange environment is incorrect', data: null });
    }
    // The paper exchange reads its accounts' ids in their keys; no signature covers this header.
    const paperKey = `paper-${accounts.get(key)?.id ?? 'unknown'}`;
    const answer = await paper.handle({ ...request, headers: { ...headers, 'access-key': paperKey } });
    if (!repeats || answer.status < 400) return answer;
    const said = `${answer.body} ${JSON.stringify(headers)}`;
    const code = codeIn(answer.body);
    const body = code === null ? said : JSON.stringify({ code, msg: said, data: headers });
    return { ...answer, body };
  }

  const server = await listenPaperExchange({ handle }, { port: 0 });
  return {
    url: server.url,
    requests,
    addAccount(credentials) {
      const id = randomUUID();
      accounts.set(credentials.apiKey, { ...credentials, id });
      return id;
    },
    async setBalance(accountId, balance) {
      await db.update(paperAccounts).set({ balance }).where(eq(paperAccounts.userId, accountId));
    },
    async push(token, price) {
      marks.push(token, price);
      await paper.settle(token);
    },
    setFaults: (faults) => paper.setFaults(faults),
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

function codeIn(body: string): string | null {
  try {
    return String((JSON.parse(body) as { code: unknown }).code);
  } catch {
    return null;
  }
}
