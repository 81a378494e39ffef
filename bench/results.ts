import type pg from 'pg';
import { RESULT_GROUPS } from '#contract/performance.ts';
import { type Bench, percentile } from './figures.ts';
import { timed, waitUntil, withDatabase, withProgram } from './harness.ts';

const MOST_MS = 150;
const ADDED_UP_LIMIT_MS = 600_000;
const ROUNDS = 3;
const RANGES = { '30 days': 30, '90 days': 90, 'a year': 365, 'all time': null };

const YEARS_MS = 2 * 365 * 86_400_000;
/** As many trades as a signal has users. */
export const USERS = 50;
const CHUNK_SIGNALS = 1_000;

/** Every panel of Performance over HTTP, and the overview. */
export const results: Bench = {
  about: 'the panels of Performance and the overview with a million closed trades of fifty users',
  takes: '20 minutes',
  only: 'all',
  async run({ add, say, short }) {
    const { trades, requests } = short
      ? { trades: 20_000, requests: 5 }
      : { trades: 1_000_000, requests: 20 };
    const env = { AUTO_TRADE: 'disabled', DISPLAY_TIMEZONE: 'America/Los_Angeles' };
    await withProgram(env, async (program) => {
      const now = Date.now();
      await withDatabase(program, async (client) => {
        await fillResults(client, { trades, now, say });
        await fillEquity(client, { now, say });
        say('orders are added up');
        const left = 'select from order_changes limit 1';
        await waitUntil(async () => (await client.query(left)).rowCount === 0, {
          what: 'all orders are added up',
          limitMs: ADDED_UP_LIMIT_MS,
          everyMs: 1_000,
        });
        // All of it, or the program's database would do so while the first panels are measured.
        await client.query('vacuum (analyze)');
      });
      async function measure(panel: string, path: string): Promise<void> {
        say(panel);
        const get = () => timed(() => program.client.get(path));
        await get();
        for (let round = 0; round < ROUNDS; round += 1) {
          const times: number[] = [];
          for (let request = 0; request < requests; request += 1) times.push(await get());
          add(`${panel}, p95`, 'ms', percentile(times, 0.95), { most: MOST_MS });
        }
      }
      for (const [name, days] of Object.entries(RANGES)) {
        const from = days === null ? '' : `from=${new Date(now - days * 86_400_000).toISOString()}&`;
        const panels = [
          ...RESULT_GROUPS.map((by) => [`by ${by}`, `?${from}groupBy=${by}`]),
          ['of a token, by user', `?${from}groupBy=user&token=BTC`],
          ['of a strategy, by user', `?${from}groupBy=user&processor=Tesla`],
          ['calendar', `/calendar?${from}`],
          ['newest trades', `/trades?${from}`],
          ['best trades', `/trades?${from}sort=net`],
        ];
        for (const [panel, path] of panels) await measure(`${name}, ${panel}`, `/api/performance${path}`);
        await measure(`${name}, equity`, `/api/performance/equity?${from}`);
      }
      await measure('small pictures of equity', '/api/performance/equity/accounts');
      // What the bar of every screen asks for.
      await measure('overview', '/api/overview');
      await measure('users with equity', '/api/trading-states');
    });
    return {
      about: `${trades.toLocaleString('en')} closed trades over two years: every signal is traded by ${USERS} users.`,
      notes: ['Orders and closed trades are inserted with their triggers, as in operation.'],
    };
  },
};

/** What each account was worth at every hour of two years and after every closed trade, as the program records it. */
async function fillEquity(
  client: pg.Client,
  { now, say }: { now: number; say: (line: string) => void },
): Promise<void> {
  say('equity of every hour');
  await client.query(
    `insert into user_settings (user_id, calculation_behavior, market_type, position_sizing_method, exchange_platform,
       signal_processor, signal_timeframe, active_trading, trade_order_set, opposite_signal, updated_at)
     select users.id, calculation_behavior, market_type, position_sizing_method, 'Bitget', signal_processor, signal_timeframe,
       true, trade_order_set, opposite_signal, now()
     from users cross join (select * from user_settings limit 1) as known
     where users.username like 'trader%' on conflict do nothing`,
  );
  const equity = `10000 + 500 * sin(extract(epoch from at) / 400000)`;
  await client.query(
    `insert into equity_snapshots (id, user_id, exchange_platform, exchange_mode, at, taken_for, equity, wallet_balance,
       open_profit, positions)
     select gen_random_uuid(), users.id, 'Bitget', 'paper', at + interval '3 seconds',
       case extract(hour from at at time zone 'America/Los_Angeles') when 0 then 'day' else 'hour' end, ${equity}, ${equity}, 0, '[]'
     from users
     cross join generate_series(date_trunc('hour', to_timestamp($1)), to_timestamp($2), interval '1 hour') as at
     where users.username like 'trader%'`,
    [(now - YEARS_MS) / 1000, now / 1000],
  );
  await client.query(
    `insert into equity_snapshots (id, user_id, exchange_platform, exchange_mode, at, taken_for, equity, wallet_balance,
       open_profit, positions)
     select gen_random_uuid(), user_id, 'Bitget', 'paper', closed_at + interval '5 seconds', 'trade', 10000, 10000, 0, '[]'
     from closed_positions`,
  );
  await client.query(
    `insert into account_figures (user_id, exchange_platform, exchange_mode, positions, positions_at, equity, equity_at)
     select id, 'Bitget', 'paper', '[]', now(), 10000, now() from users where username like 'trader%' on conflict do nothing`,
  );
  await client.query('vacuum (analyze) equity_snapshots');
}

/**
 * Fills an empty board with two years of closed trades up to now: each signal is traded by every user. Results and fill
 * rates come from triggers, as in operation.
 */
export async function fillResults(
  client: pg.Client,
  options: { trades: number; now: number; say: (line: string) => void },
): Promise<void> {
  const { trades, now, say } = options;
  const signals = Math.ceil(trades / USERS);
  const stepSeconds = YEARS_MS / 1000 / signals;
  await client.query('set synchronous_commit = off');
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into users (id, username, username_key, password_hash, is_test_user, created_at, updated_at)
     select md5('user' || n)::uuid, 'trader' || n || '@example.com', 'trader' || n || '@example.com', '', false, now(), now()
     from generate_series(1, $1::int) as n`,
    [USERS],
  );
  for (let from = 0; from < signals; from += CHUNK_SIGNALS) {
    const to = Math.min(signals, from + CHUNK_SIGNALS);
    await client.query('set session_replication_role = replica');
    const at = `to_timestamp(${(now - YEARS_MS) / 1000} + ${stepSeconds} * n)::timestamptz(3)`;
    await client.query(`
      insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe, processor,
        received_at, source_ip, hash_value, parameters)
      select md5('signal' || n)::uuid, md5('hook')::uuid, md5('user1')::uuid, true,
        (array['BTC', 'ETH', 'SOL', 'XRP', 'TON', 'PEPE', 'SUI'])[1 + n * 7919 % 7], case when n * 104729 % 2 = 0 then 'buy' else 'sell' end,
        100, 'USDT', (array['15', '60', '240'])[1 + n * 31 % 3], (array['Tesla', 'UD Bot'])[1 + n * 17 % 2], ${at}, '', 's' || n, '{}'
      from generate_series(${from}::bigint, ${to - 1}) as n`);
    await client.query(`
      create temporary table made as
      select md5('log' || s || ' ' || u)::uuid as log_id, md5('trade' || s || ' ' || u)::uuid as trade_id,
        md5('closed' || s || ' ' || u)::uuid as closed_id, md5('user' || u)::uuid as user_id, signal.*,
        100 + round(random()::numeric / 10, 3) as fill, random() as chance,
        (array['Risk Management', 'Portfolio Allocation', 'Technical Analysis'])[1 + u % 3] as method,
        signal.received_at + interval '1 second' * (60 + floor(random() * 50000)) as ended
      from generate_series(${from}::bigint, ${to - 1}) as s
      join signals as signal on signal.id = md5('signal' || s)::uuid
      cross join generate_series(1, ${USERS}) as u`);
    await client.query(`
      insert into position_generator_logs (id, signal_id, user_id, profile, exchange_platform, token, success, position,
        settings, created_at)
      select log_id, id, user_id, 'automatic', 'Bitget', token, true, jsonb_build_object('method', method), '{}', received_at
      from made`);
    await client.query('set session_replication_role = origin');
    await client.query(`
      insert into trades (id, position_generator_log_id, signal_id, user_id, trigger_type, profile, exchange_platform, token,
        side, planned_quantity, entry_price, stop_loss, take_profit, leverage, planned_margin, state, success, fill_status,
        filled_quantity, average_price, created_at, completed_at, position_closed_at)
      select trade_id, log_id, id, user_id, 'automatic', 'automatic', 'Bitget', token, action, 1, 100,
        case action when 'buy' then 98 else 102 end, case action when 'buy' then 104 else 96 end, 10, 10, 'done', true,
        'filled', 1, fill, received_at, received_at, ended
      from made`);
    await client.query(`
      insert into closed_positions (id, trade_id, user_id, exchange_platform, exchange_position_id, token, side, quantity,
        entry_price, close_price, realised_profit, fees, funding, closed_by, opened_at, closed_at, recorded_at)
      select closed_id, trade_id, user_id, 'Bitget', closed_id::text, token, case action when 'buy' then 'long' else 'short' end, 1, fill,
        case when chance < 0.45 then 98 else 102 end, round((case when chance < 0.45 then -2 else chance * 4 - 1 end)::numeric, 4), 0.12, -0.01,
        case when chance < 0.45 then 'stop loss' else 'take profit' end, received_at, ended, ended
      from made`);
    await client.query('drop table made');
    say(`${(to * USERS).toLocaleString('en')} of ${trades.toLocaleString('en')} closed trades`);
  }
}
