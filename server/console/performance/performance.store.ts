import { type SQL, sql } from 'drizzle-orm';
import type { ClosedTradesQuery, ResultFilter, ResultGroup } from '#contract/performance.ts';
import type { ResultSums } from '#domain/results/figures.ts';
import type { Db } from '#server/platform/db/database.ts';
import { EVERYBODY } from '#server/platform/db/list-totals/add-up-orders.ts';
import { coverRange, type Piece, type Range, SPANS, type Span } from './cover-range.ts';

/** A fall is measured at the ends of hours, over longer ranges at the ends of days (UTC). */
const MOST_DAYS_BY_HOUR = 31;

export type Trades = Omit<ResultFilter, 'from' | 'to'> & Range;

const DETAILS = {
  processor: sql`processor`,
  token: sql`token`,
  timeframe: sql`timeframe`,
  sizingMethod: sql`sizing_method`,
  side: sql`side`,
};

const FILTERS = ['processor', 'token', 'timeframe', 'sizingMethod'] as const;

export interface Grouping {
  by: ResultGroup | null;
  timeZone: string;
  /** Whether hours of the zone are hours of UTC; else its hours and days are made from the trades themselves. */
  isWholeHours: boolean;
}

/** The key of a trade's or a total's group. `at`: the column with its time. */
export function keyOf({ by, timeZone }: Grouping, at: SQL): SQL {
  switch (by) {
    case null:
      return sql`''`;
    case 'user':
      return sql`user_id`;
    // Numbers: texts took twice as long to group and sort.
    case 'hour':
      return sql`extract(hour from ${at} at time zone ${timeZone})::int`;
    case 'weekday':
      return sql`extract(isodow from ${at} at time zone ${timeZone})::int`;
    default:
      return DETAILS[by];
  }
}

/** The key as it is answered: hours have two digits. */
export const textOfKey = ({ by }: Pick<Grouping, 'by'>): SQL =>
  by === 'hour' ? sql`to_char(key, 'FM00')` : sql`key::text`;

/** The spans that keep apart what the grouping keeps apart. */
function spansFor({ by, isWholeHours }: Grouping): readonly Span[] {
  if (by !== 'hour' && by !== 'weekday') return SPANS;
  return isWholeHours ? ['hour'] : [];
}

export const isInstant = (at: SQL, { from, to }: Range): SQL =>
  sql`${
    from === null ? sql`true` : sql`${at} >= ${from.toISOString()}::timestamptz`
  } and ${to === null ? sql`true` : sql`${at} < ${to.toISOString()}::timestamptz`}`;

export const matching = (trades: Trades): SQL => {
  const conditions = [sql`true`];
  if (trades.userId !== undefined) conditions.push(sql`user_id = ${trades.userId}`);
  for (const name of FILTERS) {
    if (trades[name] !== undefined) conditions.push(sql`${DETAILS[name]} = ${trades[name]}`);
  }
  return sql.join(conditions, sql` and `);
};

/** The totals of the coarsest grain that tells apart what is asked for. */
export function isOfGrain(trades: Trades, by: ResultGroup | null): SQL {
  const isByUser = trades.userId !== undefined || by === 'user';
  const { processor, token, timeframe, sizingMethod } = trades;
  const isByDetail =
    [processor, token, timeframe, sizingMethod].some((value) => value !== undefined) ||
    (by !== null && by in DETAILS);
  const grain = isByUser ? (isByDetail ? 'user detail' : 'user') : isByDetail ? 'detail' : 'all';
  return sql`grain = ${grain} and ${isByUser ? sql`true` : sql`user_id = ${EVERYBODY}`}`;
}

const totalsIn = (piece: Piece, trades: Trades, by: ResultGroup | null): SQL =>
  sql`from performance_totals where ${isOfGrain(trades, by)} and span = ${piece.source}
    and ${isInstant(sql`since`, piece)} and ${matching(trades)}`;

/** Days of users in narrow rows; null where those do not tell apart what is asked for. */
function daysIn(piece: Range, trades: Trades, by: ResultGroup | null): SQL | null {
  const { userId } = trades;
  const asked = FILTERS.filter((name) => trades[name] !== undefined);
  const isOfUsers = by === 'user' || (by === null && userId !== undefined);
  if (!isOfUsers || asked.length > 1) return null;
  const [detail = ''] = asked;
  const value = detail === '' ? '' : trades[detail];
  return sql`from performance_days where detail = ${detail} and value = ${value}
    and ${userId === undefined ? sql`true` : sql`user_id = ${userId}`} and ${isInstant(sql`since`, piece)}`;
}

/** Whether most points of a fall have one row for a key. */
const hasOneRow = (trades: Trades, by: ResultGroup | null, unit: 'hour' | 'day'): boolean => {
  const isByDetail = FILTERS.some((name) => trades[name] !== undefined) || (by !== null && by in DETAILS);
  const isNarrow = daysIn({ from: null, to: null }, trades, by) !== null;
  return by !== 'weekday' && (!isByDetail || isNarrow || (by === 'user' && unit === 'hour'));
};

const tradesIn = (piece: Range, trades: Trades): SQL =>
  sql`from trade_results where ${isInstant(sql`closed_at`, piece)} and ${matching(trades)}`;

const SUMS_OF_TOTALS = sql`sum(trades) as trades, sum(known_net) as known_net, sum(known_gross) as known_gross,
  sum(known_fees) as known_fees, sum(known_funding) as known_funding, sum(known_r) as known_r, sum(wins) as wins,
  sum(losses) as losses, sum(net) as net, sum(won) as won, sum(lost) as lost, sum(gross) as gross, sum(fees) as fees,
  sum(funding) as funding, sum(r) as r, sum(risked_net) as risked_net, sum(planned_loss) as planned_loss,
  max(best) as best, min(worst) as worst, sum(holding_ms) as holding_ms, sum(r_histogram) as r_histogram,
  sum(slippage_signal_histogram) as slippage_signal_histogram,
  sum(slippage_entry_histogram) as slippage_entry_histogram, sum(holding_histogram) as holding_histogram`;

/** The same columns in the same order. */
const SUMS_OF_TRADES = sql`count(*), count(net), count(gross), count(fees), count(funding), count(r),
  count(*) filter (where net > 0), count(*) filter (where net < 0), coalesce(sum(net), 0),
  coalesce(sum(net) filter (where net > 0), 0), coalesce(sum(net) filter (where net < 0), 0), coalesce(sum(gross), 0),
  coalesce(sum(fees), 0), coalesce(sum(funding), 0), coalesce(sum(r), 0),
  coalesce(sum(net) filter (where r is not null), 0), coalesce(sum(planned_loss) filter (where r is not null), 0),
  max(net), min(net), coalesce(sum(holding_ms), 0), sum(r_histogram), sum(slippage_signal_histogram),
  sum(slippage_entry_histogram), sum(holding_histogram)`;

const COUNTS = ['trades', 'knownNet', 'knownGross', 'knownFees', 'knownFunding', 'knownR', 'wins', 'losses'];

/** The sums of each group that has trades. */
export async function sumResults(
  db: Db,
  trades: Trades,
  grouping: Grouping,
): Promise<{ key: string; sums: ResultSums }[]> {
  // OFFSET 0 keeps the key apart: for one that is computed, wide rows were sorted on disk instead of hashed.
  const parts = coverRange(trades, spansFor(grouping)).map((piece) =>
    piece.source === 'trades'
      ? sql`select ${keyOf(grouping, sql`closed_at`)} as key, ${SUMS_OF_TRADES} ${tradesIn(piece, trades)} group by 1`
      : sql`select key, ${SUMS_OF_TOTALS} from (
          select ${keyOf(grouping, sql`since`)} as key, * ${totalsIn(piece, trades, grouping.by)} offset 0) as totals group by 1`,
  );
  if (parts.length === 0) return [];
  // The names of the columns, and no rows.
  const head = sql`select ${keyOf(grouping, sql`since`)} as key, ${SUMS_OF_TOTALS} from performance_totals where false group by 1`;
  const { rows } = await db.execute<Record<string, string | null>>(sql`
    select ${textOfKey(grouping)} as key, ${SUMS_OF_TOTALS}
    from (${sql.join([head, ...parts], sql` union all `)}) as parts
    group by parts.key having sum(trades) > 0`);
  const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'key');
  const names = columns.map((column) => [column, nameOf(column)] as const);
  return rows.map((row) => {
    const sums = names.map(([column, name]) => {
      const value = row[column] ?? null;
      return [name, COUNTS.includes(name) ? Number(value) : value];
    });
    return { key: row.key ?? '', sums: Object.fromEntries(sums) as ResultSums };
  });
}

const nameOf = (column: string): string =>
  column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Days and hours of UTC, in a fraction of the time that `date_trunc` takes with a zone. */
const UTC_MIDNIGHT = sql`timestamptz '2000-01-01 00:00Z'`;

/** By group: the largest fall of the running sum of net from its highest value, which is at least 0. */
export async function findDrawdowns(
  db: Db,
  trades: Trades,
  grouping: Grouping & { now: Date },
): Promise<Map<string, string>> {
  const { from, to } = trades;
  const days = from === null ? null : ((to ?? grouping.now).getTime() - from.getTime()) / 86_400_000;
  const unit = days !== null && days <= MOST_DAYS_BY_HOUR ? 'hour' : 'day';
  const allowed: Span[] = unit === 'hour' ? ['hour'] : ['hour', 'day'];
  const spans = spansFor(grouping).filter((span) => allowed.includes(span));
  const parts = coverRange(trades, spans).map((piece) => {
    const narrow = piece.source === 'day' ? daysIn(piece, trades, grouping.by) : null;
    const [at, rows] =
      piece.source === 'trades'
        ? [sql`closed_at`, tradesIn(piece, trades)]
        : [sql`since`, narrow ?? totalsIn(piece, trades, grouping.by)];
    const point = piece.source === unit ? sql`since` : sql`date_bin(${`1 ${unit}`}, ${at}, ${UTC_MIDNIGHT})`;
    return sql`select ${keyOf(grouping, at)} as key, ${point} as point, coalesce(net, 0) as net ${rows}`;
  });
  if (parts.length === 0) return new Map();
  // Only for speed: a point may have several rows.
  const points = hasOneRow(trades, grouping.by, unit)
    ? sql`select * from parts`
    : sql`select key, point, sum(net) as net from parts group by key, point`;
  const { rows } = await db.execute<{ key: string; fall: string }>(sql`
    with parts as (${sql.join(parts, sql` union all `)}), points as (${points}),
    running as (select key, point, sum(net) over (partition by key order by point) as total from points),
    falls as (
      select key, greatest(0, max(total) over (partition by key order by point)) - total as fall from running
    )
    select ${textOfKey(grouping)} as key, max(fall)::text as fall from falls group by falls.key`);
  return new Map(rows.map(({ key, fall }) => [key, fall]));
}

/** By day of the zone, newest first. */
export async function sumDays(
  db: Db,
  trades: Trades,
  { timeZone, isWholeHours, limit }: Omit<Grouping, 'by'> & { limit: number },
): Promise<{ day: string; net: string; trades: number; unknown: number }[]> {
  const parts = coverRange(trades, isWholeHours ? ['hour'] : []).map((piece) =>
    piece.source === 'trades'
      ? sql`select closed_at as at, coalesce(net, 0) as net, 1 as trades, (net is null)::int as unknown ${tradesIn(piece, trades)}`
      : sql`select since, sum(net), sum(trades), sum(trades - known_net) ${totalsIn(piece, trades, null)} group by since`,
  );
  const { rows } = await db.execute<{ day: string; net: string; trades: number; unknown: number }>(sql`
    select to_char(at at time zone ${timeZone}, 'YYYY-MM-DD') as day, sum(net)::text as net, sum(trades)::int as trades,
      sum(unknown)::int as unknown
    from (
      select null::timestamptz as at, 0::numeric as net, 0 as trades, 0 as unknown where false
      union all ${sql.join(parts, sql` union all `)}
    ) as parts
    group by 1 having sum(trades) > 0 order by 1 desc limit ${limit}`);
  return rows;
}

interface TradeRow extends Record<string, unknown> {
  id: string;
  trade_id: string;
  user_id: string;
  username: string;
  processor: string;
  token: string;
  timeframe: string;
  sizing_method: string;
  side: 'long' | 'short';
  opened_at: string;
  closed_at: string;
  net: string | null;
  gross: string | null;
  fees: string | null;
  funding: string | null;
  r: string | null;
  slippage_signal: string | null;
  slippage_entry: string | null;
  holding_ms: string | null;
}

const SORTED_BY = { time: sql`closed_at`, net: sql`net`, r: sql`r` };

/** A page of closed trades. Unknown values come last, in either order. */
export async function listClosedTrades(
  db: Db,
  trades: Trades,
  { sort, order, page, limit }: Pick<ClosedTradesQuery, 'sort' | 'order' | 'page' | 'limit'>,
): Promise<TradeRow[]> {
  const column = SORTED_BY[sort];
  const direction = order === 'asc' ? sql`asc` : sql`desc`;
  const offset = (page - 1) * limit;
  const shown = (isKnown: SQL, sorted: SQL) => sql`(
    select * ${tradesIn(trades, trades)} and ${isKnown} order by ${sorted} limit ${offset + limit})`;
  const known = sql`${column} ${direction}, id ${direction}`;
  // Two parts, each in the order of an index: an index keeps nulls at one end only.
  const rows =
    sort === 'time'
      ? shown(sql`true`, known)
      : sql`select * from (
          select 0 as part, known.* from ${shown(sql`${column} is not null`, known)} as known
          union all select 1, unknown.* from ${shown(sql`${column} is null`, sql`id ${direction}`)} as unknown
        ) as parts order by part, ${known} limit ${offset + limit}`;
  const { rows: found } = await db.execute<TradeRow>(sql`
    select page.*, users.username from (
      select * from (${rows}) as ordered offset ${offset}
    ) as page join users on users.id = page.user_id
    order by ${sort === 'time' ? sql`` : sql`(${column} is null), `}${column} ${direction}, page.id ${direction}`);
  return found;
}

/** One user or all, also those without a closed trade: they have equity and statements. Values are those of closed trades. */
export async function listResultValues(db: Db, userId: string | undefined) {
  const whose =
    userId === undefined
      ? sql`grain = 'detail' and user_id = ${EVERYBODY}`
      : sql`grain = 'user detail' and user_id = ${userId}`;
  const { rows } = await db.execute<
    Record<'processors' | 'tokens' | 'timeframes' | 'methods', string[] | null>
  >(sql`
    select array_agg(distinct processor) as processors, array_agg(distinct token) as tokens,
      array_agg(distinct timeframe) as timeframes, array_agg(distinct sizing_method) as methods
    from performance_totals where ${whose} and span = 'month' and trades > 0`);
  return { users: await listUsernames(db, userId), ...rows[0] };
}

/** Of one user or of all. */
export async function listUsernames(
  db: Db,
  userId: string | undefined,
): Promise<{ id: string; username: string }[]> {
  const { rows } = await db.execute<{ id: string; username: string }>(sql`
    select id, username from users
    where ${userId === undefined ? sql`true` : sql`id = ${userId}`} order by username`);
  return rows;
}
