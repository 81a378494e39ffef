import { sql } from 'drizzle-orm';
import type { AttentionCondition } from '#contract/attention.ts';
import { describeUnreadable, listUnreadable } from '#domain/sizing/candle-figures.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import type { Deps } from '#server/deps.ts';
import { readCounted } from '#server/platform/db/list-totals/count-list.ts';

interface NewestCandle {
  [field: string]: unknown;
  token: string;
  timeframe: string;
  processor: string;
  parameters: Record<string, unknown>;
  receivedAt: string;
}

/** Series whose newest candle has a field that cannot be read: users who need it are not traded. */
export async function unreadableCandleConditions({ db }: Pick<Deps, 'db'>): Promise<AttentionCondition[]> {
  const newest = await readCounted<NewestCandle>(
    db,
    'price-logs',
    (before) => sql`
      select series.token, series.timeframe, series.processor, newest.parameters,
        newest.received_at as "receivedAt"
      from (
        select token, timeframe, processor from list_totals where list = 'price-logs'
        union
        select token, timeframe, coalesce(processor, '') from price_logs where id >= ${before}
      ) as series
      cross join lateral (
        select parameters, received_at from price_logs
        where price_logs.token = series.token and price_logs.timeframe = series.timeframe
          and coalesce(price_logs.processor, '') = series.processor
        order by received_at desc, id desc limit 1
      ) as newest
      order by newest.received_at`,
  );
  return newest.flatMap(({ token, timeframe, processor, parameters, receivedAt }) => {
    const unreadable = listUnreadable((name) => parameters[name] ?? byAnyCase(parameters, name));
    if (unreadable.length === 0) return [];
    const series = [token, displayTimeframe(timeframe), processor].filter((part) => part !== '').join(' ');
    return {
      code: 'candle_unreadable',
      severity: 'warning',
      since: new Date(receivedAt).toISOString(),
      text: `The newest candle of ${series} cannot be read in full: ${unreadable.map(describeUnreadable).join('; ')}. Users whose calculation needs it are not traded.`,
      link: '/price-logs',
      action: 'Open price logs',
    };
  });
}

/** Only the fields of the calculator are stored in lower case as well. */
const byAnyCase = (parameters: Record<string, unknown>, name: string): unknown =>
  Object.entries(parameters).find(([given]) => given.toLowerCase() === name)?.[1];
