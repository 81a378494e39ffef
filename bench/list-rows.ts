import type pg from 'pg';
import { monthName, monthOf } from '#server/platform/db/partitions.ts';
import { firstIdOf } from '#server/platform/ids.ts';

/** What is measured by name: as often as they come, and as seldom. */
export const COMMON = { token: 'BTC', timeframe: '15', processor: 'Tesla' } as const;
export const RARE = { token: 'RARE', timeframe: '1w', processor: 'Orion' } as const;

const YEARS_MS = 2 * 365 * 86_400_000;
const MONTHS = 24;
const CHUNK_ROWS = 250_000;
const BIG_TABLES = ['signals', 'workflows', 'price_logs'];

/** 60 tokens by Zipf's law and one that hardly ever comes; the most common one makes a sixth of the rows. */
const TOKEN = `case when r1 < 0.00004 then '${RARE.token}' else (array['${COMMON.token}', 'ETH', 'SOL', 'XRP', 'DOGE'])[rank] end`;
const TIMEFRAME = `case when r2 < 0.0001 then '${RARE.timeframe}'
  else (array['${COMMON.timeframe}', '60', '5', '240', '30', '1', 'D', '120'])[1 + floor(8 * r2 * r2)::int] end`;
const PROCESSOR = `case when r3 < 0.0001 then '${RARE.processor}' when r3 < 0.1 then 'Atlas'
  when r3 < 0.45 then 'UD Bot' else '${COMMON.processor}' end`;

/**
 * Fills an empty board with what two years bring: signals with one ended workflow each, and price logs, evenly spread
 * up to now. Written past triggers and foreign keys, without indexes; those are made afterwards, all of them.
 */
export async function fillLists(
  client: pg.Client,
  options: { signals: number; priceLogs: number; now: number; say: (line: string) => void },
): Promise<void> {
  const { signals, priceLogs, now, say } = options;
  await client.query('set session_replication_role = replica');
  await client.query(`set timezone = 'UTC'`);
  await client.query('set synchronous_commit = off');
  await partitionByMonth(client, new Date(now));
  const indexes = await dropIndexes(client);
  await inChunks(signals, async (from, to) => {
    say(`lists: ${to.toLocaleString('en')} of ${signals.toLocaleString('en')} signals`);
    await client.query(`
      with made as materialized (${rowsSql({ from, to, count: signals, now })})
      insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe,
        processor, received_at, source_ip, hash_value, parameters)
      select ${idSql('at', 's', 'n')}, '${HOOK}', '${HOOK}', true, coalesce(${TOKEN}, 'T' || rank),
        case when r4 < 0.55 then 'buy' else 'sell' end, round((100 + r4 * 50)::numeric, 3), 'USDT', ${TIMEFRAME},
        ${PROCESSOR}, at, '52.89.214.238', encode(sha256(('s' || n)::bytea), 'hex'), '{"serial": "1"}'
      from made`);
    await client.query(`
      insert into workflows (id, signal_id, trigger, status, token, processor, created_at, started_at, completed_at)
      select ${idSql('received_at', 'w', 'id')}, id, 'automatic',
        case when abs(hashtext(id::text)) % 1000 < 800 then 'completed'
          when abs(hashtext(id::text)) % 1000 < 998 then 'aborted' else 'failed' end,
        token, processor, received_at, received_at, received_at
      from signals where received_at >= ${atSql(from, signals, now)} and received_at < ${atSql(to, signals, now)}`);
  });
  await inChunks(priceLogs, async (from, to) => {
    say(`lists: ${to.toLocaleString('en')} of ${priceLogs.toLocaleString('en')} price logs`);
    await client.query(`
      with made as materialized (${rowsSql({ from, to, count: priceLogs, now })})
      insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency, processor,
        candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
      select ${idSql('at', 'p', 'n')}, '${HOOK}', '${HOOK}', true, coalesce(${TOKEN}, 'T' || rank), ${TIMEFRAME},
        round((100 + r4 * 50)::numeric, 3), 'USDT', ${PROCESSOR}, to_char(at, 'YYYYMMDDHH24MI'),
        date_trunc('minute', at), at, '52.89.214.238', encode(sha256(('p' || n)::bytea), 'hex'),
        '{"Open": "100", "High": "101.5", "Low": "99.2", "Volume": "123456", "RSI": "55.31", "atr": "0.83", "mature_trend": "bullish"}'
      from made`);
  });
  for (const index of indexes) {
    say(`lists: ${index.slice(0, index.indexOf(' USING'))}`);
    await client.query(index);
  }
  await client.query('set session_replication_role = origin');
  for (const table of BIG_TABLES) await client.query(`vacuum (analyze) ${table}`);
}

const HOOK = '01890a5d-ac96-774b-bcce-b302099a8057';

async function inChunks(count: number, work: (from: number, to: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += CHUNK_ROWS) await work(from, Math.min(count, from + CHUNK_ROWS));
}

/** When the row of a number was received: evenly spread over the two years, the last one now. */
const atSql = (number: number | string, count: number, now: number) =>
  `to_timestamp(${(now - YEARS_MS) / 1000} + ${YEARS_MS / 1000 / count} * ${number})::timestamptz(3)`;

const rowsSql = ({ from, to, count, now }: { from: number; to: number; count: number; now: number }) => `
  select n, ${atSql('n', count, now)} as at, floor(60 ^ random())::int as rank,
    random() as r1, random() as r2, random() as r3, random() as r4
  from generate_series(${from}, ${to - 1}) as n`;

/** A time-ordered id of the instant. */
const idSql = (at: string, kind: string, number: string) => `
  (lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' ||
    substr(md5('${kind}' || ${number}), 1, 3) || '8' || substr(md5('${kind}' || ${number}), 4, 15))::uuid`;

/** As a program that had been there for the two years would have done it. */
async function partitionByMonth(client: pg.Client, now: Date): Promise<void> {
  const { rows } = await client.query<{ name: string; bound: string }>(
    `select inhrelid::regclass::text as name, substring(pg_get_expr(relpartbound, inhrelid) from 'TO \\(''(.*)''\\)') as bound
     from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'price_logs'::regclass and pg_get_expr(relpartbound, inhrelid) like '%(MINVALUE)%'`,
  );
  const [first] = rows;
  if (first === undefined) return;
  await client.query(`drop table ${first.name}`);
  let from = 'minvalue';
  for (let month = -MONTHS; from !== `'${first.bound}'`; month += 1) {
    const start = monthOf(now, month);
    const to = `'${firstIdOf(start)}'`;
    await client.query(
      `create table price_logs_until_${monthName(start)} partition of price_logs for values from (${from}) to (${to})`,
    );
    from = to;
  }
}

/** Answers the statements that make them again; those of constraints stay. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; statement: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as statement
    from pg_index
    where indrelid = any($1::regclass[]) and not exists (select from pg_constraint where conindid = indexrelid)`,
    [BIG_TABLES],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ statement }) => statement.replace(' ON ONLY ', ' ON '));
}
