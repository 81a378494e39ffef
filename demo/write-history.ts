import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type PastSignal, simulateEquity } from './history.ts';

/**
 * Writes past signals and their closed trades straight into the demo's own database: a webhook stores only what arrives
 * now. Returns how many trades were written; none where there are closed positions already.
 */
export async function writeHistory({
  dataDir,
  signals,
  ...until
}: {
  dataDir: string;
  signals: readonly PastSignal[];
  now: Date;
  timeZone: string;
}): Promise<number> {
  // Line 4 is the port, line 5 the folder of the socket, line 6 the address where there are no sockets.
  const lines = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  const client = new pg.Client({
    host: lines[4] || lines[5] || '',
    port: Number(lines[3]),
    user: 'postgres',
    database: 'signal_board',
    ssl: false,
  });
  await client.connect();
  try {
    return await storeHistory(client, signals, until);
  } finally {
    await client.end();
  }
}

export async function storeHistory(
  client: pg.ClientBase,
  signals: readonly PastSignal[],
  until: { now: Date; timeZone: string },
): Promise<number> {
  const { rows } = await client.query('select exists (select from closed_positions) as any');
  if (rows[0].any) return 0;
  const trades = signals.flatMap(({ trades: of, ...signal }) =>
    of.map((trade) => ({
      ...trade,
      signalId: signal.id,
      workflowId: signal.workflowId,
      token: signal.token,
      action: signal.action,
    })),
  );
  const flat = signals.map(({ trades: of, ...signal }) => ({ ...signal, users: of.length }));
  const insert = (statement: string, given: readonly object[]) =>
    client.query(statement, [JSON.stringify(given)]);
  await client.query('begin');
  try {
    await insert(
      `insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe, processor,
        received_at, source_ip, hash_value, parameters)
       select s.id, hook.id, hook.user_id, true, s.token, s.action, s.price, 'USDT', s.timeframe, s.processor,
        s."receivedAt", '127.0.0.1', 'history ' || s.id, '{"strategy": "EMA 3/8 crossing"}'
       from jsonb_to_recordset($1::jsonb) as s (id uuid, token text, action text, price numeric, timeframe text,
         processor text, "receivedAt" timestamptz)
       cross join (select id, user_id from hooks order by created_at limit 1) as hook`,
      flat,
    );
    await insert(
      `insert into workflows (id, signal_id, trigger, status, token, processor, created_at, started_at, completed_at,
        eligible_users_count, successful_users_count, outcome, failed_users_count, skipped_users_count)
       select s."workflowId", s.id, 'automatic', 'completed', s.token, s.processor, s."receivedAt", s."receivedAt",
        s."receivedAt" + interval '6 seconds', s.users, s.users, 'filled', 0, 0
       from jsonb_to_recordset($1::jsonb) as s (id uuid, "workflowId" uuid, token text, processor text, "receivedAt" timestamptz,
         users int)`,
      flat,
    );
    const columns = `as t (id uuid, "logId" uuid, "closedId" uuid, "signalId" uuid, "workflowId" uuid, username text, token text,
      action text, method text, quantity numeric, entry numeric, stop numeric, target numeric, fill numeric, "closePrice" numeric,
      "closedBy" text, "realisedProfit" numeric, fees numeric, funding numeric, "openedAt" timestamptz, "closedAt" timestamptz)
      join users on users.username = t.username`;
    await insert(
      `insert into position_generator_logs (id, signal_id, user_id, workflow_id, profile, exchange_platform, token, success,
        settings, created_at)
       select t."logId", t."signalId", users.id, t."workflowId", 'automatic', 'Bitget', t.token, true,
        jsonb_build_object('positionSizingMethod', t.method), t."openedAt"
       from jsonb_to_recordset($1::jsonb) ${columns}`,
      trades,
    );
    await insert(
      `insert into trades (id, position_generator_log_id, workflow_id, signal_id, user_id, trigger_type, profile,
        exchange_platform, token, side, planned_quantity, entry_price, stop_loss, take_profit, leverage, planned_margin, state,
        success, fill_status, filled_quantity, average_price, protection_status, created_at, completed_at, position_closed_at,
        exchange_mode)
       select t.id, t."logId", t."workflowId", t."signalId", users.id, 'automatic', 'automatic', 'Bitget', t.token, t.action,
        t.quantity, t.entry, t.stop, t.target, 10, round(t.quantity * t.entry / 10, 2), 'done', true, 'filled', t.quantity, t.fill,
        'verified', t."openedAt", t."openedAt", t."closedAt", 'paper'
       from jsonb_to_recordset($1::jsonb) ${columns}`,
      trades,
    );
    await insert(
      `insert into closed_positions (id, trade_id, user_id, exchange_platform, exchange_position_id, token, side, quantity,
        entry_price, close_price, realised_profit, fees, funding, closed_by, opened_at, closed_at, recorded_at)
       select t."closedId", t.id, users.id, 'Bitget', 'history ' || t.id, t.token,
        case t.action when 'buy' then 'long' else 'short' end, t.quantity, t.fill, t."closePrice", t."realisedProfit", t.fees,
        t.funding, t."closedBy", t."openedAt", t."closedAt", t."closedAt"
       from jsonb_to_recordset($1::jsonb) ${columns}`,
      trades,
    );
    const { rows: users } = await client.query('select username from users');
    await insert(
      `insert into equity_snapshots (id, user_id, exchange_platform, exchange_mode, at, taken_for, equity, wallet_balance,
        open_profit, positions)
       select gen_random_uuid(), users.id, 'Bitget', 'paper', e.at, e."takenFor", e.wallet + e."openProfit", e.wallet,
        e."openProfit", '[]'
       from jsonb_to_recordset($1::jsonb) as e (username text, at timestamptz, "takenFor" text, wallet numeric,
         "openProfit" numeric)
       join users on users.username = e.username`,
      simulateEquity(signals, { usernames: users.map(({ username }) => username), ...until }),
    );
    // Totals of lists were counted up to now: old rows would be missing in them.
    await client.query(
      'truncate counted_lists, list_totals, list_totals_by_month, list_choices, signal_totals_by_quarter',
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
  return trades.length;
}
