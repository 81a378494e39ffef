import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from '#contract/users.ts';
import { type BenchResult, createFigures } from './figures.ts';
import { type Program, withDatabase, withProgram } from './program.ts';

const USER_COUNTS = [1, 10, 50];
const ROUNDS = 5;
const VERIFY_FIRST_MS = 500;
const LIMIT_MS = 120_000;
/** The paper exchange settles what came before, so that a round begins at rest. */
const PAUSE_MS = 1_000;

interface Outcome {
  firstOrderMs: number;
  lastOrderMs: number;
  endMs: number;
  successful: number;
}

/** From the 200 to the orders, on the paper exchange, with 1, 10 and 50 eligible users. */
export async function benchFirstOrder(say: (line: string) => void): Promise<BenchResult> {
  const figures = createFigures();
  const waits = { VERIFY_FIRST_MS: String(VERIFY_FIRST_MS), VERIFY_SECOND_MS: '500', CANCEL_DELAY_MS: '100' };
  await withProgram(waits, async (program) => {
    let users = 0;
    for (const wanted of USER_COUNTS) {
      say(`first-order: ${wanted} eligible users`);
      for (; users < wanted; users += 1) await createTrader(program, users + 1);
      for (let round = 1; round <= ROUNDS; round += 1) {
        await sleep(PAUSE_MS);
        const outcome = await measure(program, `T${wanted}R${round}`);
        if (outcome.successful !== wanted) {
          throw new Error(`${outcome.successful} of ${wanted} users were successful`);
        }
        const name = `${wanted} ${wanted === 1 ? 'user' : 'users'}`;
        figures.add(`${name}: 200 to first order`, 'ms', outcome.firstOrderMs);
        if (wanted > 1) figures.add(`${name}: 200 to last order`, 'ms', outcome.lastOrderMs);
        figures.add(`${name}: 200 to end of workflow, less the wait`, 'ms', outcome.endMs - VERIFY_FIRST_MS);
      }
    }
  });
  return {
    bench: 'first-order',
    about:
      'From the answer to a signal until orders leave for the built-in paper exchange, each filled and protected',
    figures: figures.all(),
    notes: [
      `An order counts as leaving at its submittedAt. The wait before its check is VERIFY_FIRST_MS=${VERIFY_FIRST_MS}, once a user; it is taken off the last figure.`,
      'A token of its own for every round, so that nobody holds a position already.',
    ],
  };
}

async function createTrader({ client }: Program, number: number): Promise<void> {
  const username = `trader${number}@example.com`;
  const body = { username, password: 'a password of a trader' };
  const { user } = await client.post<{ user: User }>('/api/admin/create-client', body);
  await client.put(`/api/admin/user/${user.id}/active-trading`, { activeTrading: true });
}

async function measure(program: Program, token: string): Promise<Outcome> {
  const time = new Date().toISOString();
  const common = { Symbol: `${token}USDT`, Timeframe: '15' };
  await post(program, 'trading_view_candler', {
    ...common,
    DateTime: time.slice(0, 16).replaceAll(/\D/g, ''),
    Close: '100',
    ATR: '1',
    mature_trend: 'bullish',
  });
  await sleep(PAUSE_MS);
  const { id, answeredAt } = await post(program, 'trading_view_signal', {
    ...common,
    action: 'buy',
    price: '100',
    processor: 'Tesla',
    time,
  });
  return readOutcome(program, { signalId: id, answeredAt });
}

async function post(
  { server, hookKey }: Program,
  route: string,
  payload: Record<string, string>,
): Promise<{ id: string; answeredAt: number }> {
  const answer = await fetch(`${server.url}/hooks/${route}?hkid=${hookKey}`, {
    method: 'POST',
    body: JSON.stringify(payload),
  });
  const answeredAt = Date.now();
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${route}: ${answer.status} ${text}`);
  return { id: (JSON.parse(text) as { id: string }).id, answeredAt };
}

interface OutcomeRow {
  first: Date;
  last: Date;
  ended: Date;
  successful: number;
}

/** The database's own times: the same clock as ours, and looking costs the program nothing. */
async function readOutcome(
  { postmaster }: Program,
  { signalId, answeredAt }: { signalId: string; answeredAt: number },
): Promise<Outcome> {
  const deadline = Date.now() + LIMIT_MS;
  return withDatabase({ postmaster }, async (client) => {
    while (Date.now() < deadline) {
      await sleep(100);
      const { rows } = await client.query<OutcomeRow>(
        `select min(a.submitted_at) as first, max(a.submitted_at) as last, w.completed_at as ended,
                count(*) filter (where t.success)::int as successful
         from workflows w join trades t on t.workflow_id = w.id join order_attempts a on a.trade_id = t.id
         where w.signal_id = $1 and w.completed_at is not null
         group by w.id`,
        [signalId],
      );
      const [row] = rows;
      if (row === undefined) continue;
      return {
        firstOrderMs: row.first.getTime() - answeredAt,
        lastOrderMs: row.last.getTime() - answeredAt,
        endMs: row.ended.getTime() - answeredAt,
        successful: row.successful,
      };
    }
    throw new Error(`The workflow of signal ${signalId} did not end within ${LIMIT_MS} ms`);
  });
}
