import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from '#contract/users.ts';
import { candlePayload, type Kind, signalPayload } from './payloads.ts';
import { type Program, withDatabase } from './program.ts';

export const NO_WAITS = { VERIFY_FIRST_MS: '0', VERIFY_SECOND_MS: '0', CANCEL_DELAY_MS: '0' };
/** Signals of every kind come from one administrator's webhook; nothing may be turned away. */
export const TRADING = {
  AUTO_TRADE: 'enabled',
  WEBHOOK_RATE_LIMIT: '0',
  PAPER_BALANCE: '1000000',
};
export const PRICE = '100';

/**
 * Users who trade every signal of the administrator. The first one is made as an operator makes one; the others are
 * copies of its rows, since hashing a thousand passwords would take longer than what is measured.
 */
export async function createTraders(
  { client, postmaster }: Pick<Program, 'client' | 'postmaster'>,
  count: number,
): Promise<string[]> {
  const username = 'trader1@example.com';
  const body = { username, password: 'a password of a trader' };
  const { user } = await client.post<{ user: User }>('/api/admin/create-client', body);
  await client.put(`/api/admin/user-settings/${user.id}`, {
    positionSizingMethod: 'Portfolio Allocation',
    investmentPortion: '0.001',
    signalProcessor: 'Tesla',
    signalTimeframe: 'Any',
  });
  await client.put(`/api/admin/user/${user.id}/active-trading`, { activeTrading: true });
  return withDatabase({ postmaster }, async (database) => {
    await database.query(
      `with copies as (
         select gen_random_uuid() as id, format('trader%s@example.com', number) as name
         from generate_series(2, $2::int) number
       ), made as (
         insert into users
         select (jsonb_populate_record(users, jsonb_build_object(
           'id', copies.id, 'username', copies.name, 'username_key', copies.name))).*
         from users, copies where users.id = $1
         returning id
       )
       insert into user_settings
       select (jsonb_populate_record(user_settings, jsonb_build_object('user_id', made.id))).*
       from user_settings, made where user_settings.user_id = $1`,
      [user.id, count],
    );
    const { rows } = await database.query<{ id: string }>(
      `select id from users where username like 'trader%' order by created_at, id`,
    );
    if (rows.length !== count) throw new Error(`${rows.length} of ${count} traders were made`);
    return rows.map(({ id }) => id);
  });
}

let serial = 0;

/** One delivery as a chart sends it. */
export async function post(
  { server, hookKey }: { server: { url: string }; hookKey: string },
  kind: Kind,
  { token, price = PRICE }: { token: string; price?: string },
): Promise<{ id: string; sentAt: number; answeredAt: number }> {
  serial += 1;
  const route = kind === 'signal' ? 'trading_view_signal' : 'trading_view_candler';
  const payload = (kind === 'signal' ? signalPayload : candlePayload)({ token, price, serial });
  const sentAt = Date.now();
  const answer = await fetch(`${server.url}/hooks/${route}?hkid=${hookKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  });
  const answeredAt = Date.now();
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${route}: ${answer.status} ${text}`);
  return { id: (JSON.parse(text) as { id: string }).id, sentAt, answeredAt };
}

export interface Outcome {
  /** When the paper exchange took the first order, and the last one. Milliseconds since 1970. */
  firstOrderAt: number;
  lastOrderAt: number;
  /** When the workflow had ended. */
  endedAt: number;
  successful: number;
}

interface OutcomeRow {
  first: Date;
  last: Date;
  ended: Date;
  successful: number;
}

/** Waits for the end of a signal's workflow. The database's own times: the same clock as ours, and looking is cheap. */
export async function waitForOutcome(
  { postmaster }: Pick<Program, 'postmaster'>,
  signalId: string,
  { limitMs, pollMs }: { limitMs: number; pollMs: number },
): Promise<Outcome> {
  const deadline = Date.now() + limitMs;
  return withDatabase({ postmaster }, async (client) => {
    while (Date.now() < deadline) {
      await sleep(pollMs);
      const ended = await client.query(
        'select from workflows where signal_id = $1 and completed_at is not null',
        [signalId],
      );
      if (ended.rowCount === 0) continue;
      const { rows } = await client.query<OutcomeRow>(
        `select min(o.created_at) as first, max(o.created_at) as last, w.completed_at as ended,
                w.successful_users_count as successful
         from workflows w join trades t on t.workflow_id = w.id join order_attempts a on a.trade_id = t.id
         join paper_orders o on o.client_order_id = a.client_order_id
         where w.signal_id = $1 group by w.id`,
        [signalId],
      );
      const [row] = rows;
      if (row === undefined) throw new Error(`The workflow of signal ${signalId} ended without an order`);
      return {
        firstOrderAt: row.first.getTime(),
        lastOrderAt: row.last.getTime(),
        endedAt: row.ended.getTime(),
        successful: row.successful,
      };
    }
    throw new Error(`The workflow of signal ${signalId} did not end within ${limitMs} ms`);
  });
}
