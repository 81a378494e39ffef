import { and, asc, count, desc, eq, gte, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import type { AttentionCondition } from '#contract/attention.ts';
import { outcomeText } from '#domain/workflow/workflow-outcome.ts';
import { listOpenHalts } from '#server/admin/halts/trading-halts.store.ts';
import type { AttentionSource, Deps } from '#server/deps.ts';
import { listOrdersInDoubt } from '#server/engine/orders/write-off.ts';
import { withWorkflowOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import { asExchangeError, ExchangeError } from '#server/exchanges/exchange.ts';
import {
  exchangeCredentials,
  signals,
  trades,
  userSettings,
  users,
  workflows,
} from '#server/platform/db/schema.ts';
import { unreadableCandleConditions } from './unreadable-candles.ts';

type ConditionDeps = Pick<
  Deps,
  'accountGuard' | 'clock' | 'config' | 'db' | 'exchanges' | 'findAccount' | 'log'
>;

const DAY_MS = 24 * 3_600_000;
/** Runs of the last day that are looked through for signals that filled nobody. */
const MOST_RUNS = 200;
/** Deliveries of a webhook that are looked through for the beginning of its refusals. */
const MOST_DELIVERIES = 50;

/** What the trading itself shows an operator, each kind read from the state it names: gone with its cause. */
export const tradingConditions = (deps: ConditionDeps): AttentionSource[] => [
  () => haltConditions(deps),
  () => unprotectedConditions(deps),
  () => contractConditions(deps),
  () => doubtConditions(deps),
  () => keyConditions(deps),
  () => webhookConditions(deps),
  () => unfilledConditions(deps),
  () => unclosedConditions(deps),
  () => unreadableCandleConditions(deps),
];

/** Users who open nothing. A halt that ends by itself is a warning. */
async function haltConditions({ db }: ConditionDeps): Promise<AttentionCondition[]> {
  const halts = await listOpenHalts(db);
  return halts.map(({ halt, username }) => ({
    code: 'trading_halted',
    severity: halt.kind === 'unverified' ? 'warning' : 'critical',
    since: halt.since.toISOString(),
    text: `Trading of ${username} is halted: ${halt.reason}.`,
    link: '/positions',
    action: 'Show halts',
  }));
}

/** Open positions known to be without a stop, unless a halt names them already. */
async function unprotectedConditions({ db }: ConditionDeps): Promise<AttentionCondition[]> {
  const rows = await db
    .select({ trade: trades, username: users.username })
    .from(trades)
    .innerJoin(users, eq(users.id, trades.userId))
    .where(
      and(
        isNotNull(trades.unprotectedSince),
        isNull(trades.positionClosedAt),
        // Worded like the index of open positions.
        sql`(${trades.state} <> 'done' or ${trades.fillStatus} in ('filled', 'partial'))`,
        sql`not exists (select from trading_halts where trade_id = ${trades.id} and ended_at is null)`,
      ),
    )
    .orderBy(asc(trades.unprotectedSince));
  return rows.map(({ trade: { token, exchangePlatform, unprotectedSince }, username }) => ({
    code: 'position_without_stop',
    severity: 'critical',
    since: unprotectedSince?.toISOString() ?? null,
    text: `The ${token} position of ${username} at ${exchangePlatform} has no verified stop. It is being protected or closed.`,
    link: '/positions',
    action: 'Show positions',
  }));
}

/** Positions in contracts that open nothing any more: they end soon, or their exchange no longer names them. */
async function contractConditions({ db, exchanges, log }: ConditionDeps): Promise<AttentionCondition[]> {
  const held = await db
    .select({ token: trades.token, name: trades.exchangePlatform, count: count() })
    .from(trades)
    .where(
      and(
        isNull(trades.positionClosedAt),
        // Worded like the index of open positions.
        sql`(${trades.state} <> 'done' or ${trades.fillStatus} in ('filled', 'partial'))`,
        sql`${trades.protectionStatus} is distinct from 'closed'`,
      ),
    )
    .groupBy(trades.token, trades.exchangePlatform);
  const conditions = held.map(async ({ token, name, count: open }): Promise<AttentionCondition[]> => {
    const platform = exchanges.supported.find((one) => one === name);
    if (platform === undefined) return [];
    const contract = await exchanges.get(platform).fetchContract(token).catch(asExchangeError);
    if (contract instanceof ExchangeError) {
      log.warn({ err: contract, token }, 'the contract of an open position could not be read');
      return [];
    }
    const problem = contract === null ? 'the exchange lists no contract of that name' : contract.entryProblem;
    if (problem === undefined) return [];
    const positions = open === 1 ? 'A position' : `${open} positions`;
    return [
      {
        code: 'contract_closed',
        severity: 'critical',
        since: null,
        text: `${positions} in ${token} at ${platform} ${open === 1 ? 'is' : 'are'} open, and ${problem}. Close in time what is held.`,
        link: '/positions',
        action: 'Show positions',
      },
    ];
  });
  return (await Promise.all(conditions)).flat();
}

/** Orders whose fate no answer of the exchange settles at the moment. */
async function doubtConditions(deps: ConditionDeps): Promise<AttentionCondition[]> {
  const orders = await listOrdersInDoubt(deps);
  return orders.map(({ username, token, side, exchangePlatform, createdAt, problem }) => ({
    code: 'order_in_doubt',
    severity: 'critical',
    since: createdAt,
    text: `The ${token} ${side} order of ${username} at ${exchangePlatform} is in doubt: ${problem}.`,
    link: '/position-maker',
    action: 'Check order',
  }));
}

/** Keys of active users that their exchange refuses, of the exchange that they trade at. */
async function keyConditions({ config, db }: ConditionDeps): Promise<AttentionCondition[]> {
  if (config.exchangeMode === 'paper') return [];
  const rows = await db
    .select({ key: exchangeCredentials, username: users.username })
    .from(exchangeCredentials)
    .innerJoin(users, and(eq(users.id, exchangeCredentials.userId), eq(users.isActive, true)))
    .innerJoin(
      userSettings,
      and(
        eq(userSettings.userId, exchangeCredentials.userId),
        eq(userSettings.exchangePlatform, exchangeCredentials.exchangePlatform),
      ),
    )
    .where(isNotNull(exchangeCredentials.rejectedAt))
    .orderBy(asc(exchangeCredentials.rejectedAt));
  return rows.map(({ key, username }) => ({
    code: 'key_refused',
    severity: 'warning',
    since: key.rejectedAt?.toISOString() ?? null,
    text: `${key.exchangePlatform} refuses the API key of ${username}: ${key.rejectedReason ?? 'no reason given'}. Nothing is ordered for ${username}.`,
    link: `/settings?userId=${key.userId}`,
    action: 'Open settings',
  }));
}

interface RefusedHook {
  [field: string]: unknown;
  username: string;
  kind: string;
  result: string;
  reason: string | null;
  refusals: number;
  since: Date;
}

/** Webhooks whose newest delivery was refused within the last day: what their alerts say gets lost. */
async function webhookConditions({ clock, db }: ConditionDeps): Promise<AttentionCondition[]> {
  const since = new Date(clock.now().getTime() - DAY_MS);
  const { rows } = await db.execute<RefusedHook>(sql`
    select users.username, newest.kind, newest.result, newest.reason,
      streak.refusals, streak.since
    from hooks join users on users.id = hooks.user_id
    cross join lateral (
      select kind, result, reason, received_at from deliveries
      where deliveries.hook_id = hooks.id order by deliveries.id desc limit 1
    ) as newest
    cross join lateral (
      select count(*)::int as refusals, min(received_at) as since from (
        select received_at, bool_or(result not in ('refused', 'limited')) over (order by id desc) as is_over
        from (
          select id, result, received_at from deliveries
          where deliveries.hook_id = hooks.id order by deliveries.id desc limit ${MOST_DELIVERIES}
        ) as latest
      ) as marked where not is_over
    ) as streak
    where newest.result in ('refused', 'limited') and newest.received_at >= ${since}
    order by streak.since`);
  return rows.map(({ username, kind, result, reason, refusals, since: begin }) => {
    const count =
      refusals === 1
        ? 'The last delivery'
        : `The last ${refusals}${refusals < MOST_DELIVERIES ? '' : ' or more'} deliveries`;
    const were = refusals === 1 ? 'was' : 'were';
    const why =
      result === 'limited' ? 'over the limit of deliveries a minute' : (reason ?? 'no reason is recorded');
    return {
      code: 'webhook_refused',
      severity: 'warning',
      since: new Date(begin).toISOString(),
      text: `${count} to the webhook of ${username} ${were} refused (${kind}): ${why}.`,
      link: '/configuration',
      action: 'Open webhooks',
    };
  });
}

/** Signals of the last day whose newest run ordered and filled nobody, while no later signal of the token did better. */
async function unfilledConditions({ clock, db }: ConditionDeps): Promise<AttentionCondition[]> {
  const since = new Date(clock.now().getTime() - DAY_MS);
  const rows = await db
    .select({ workflow: workflows, action: signals.action })
    .from(workflows)
    .innerJoin(signals, eq(signals.id, workflows.signalId))
    .where(
      and(
        gte(workflows.createdAt, since),
        ne(workflows.status, 'aborted'),
        inArray(signals.action, ['buy', 'sell']),
      ),
    )
    .orderBy(desc(workflows.createdAt), desc(workflows.id))
    .limit(MOST_RUNS);
  const newest = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    const { token } = row.workflow;
    if (!newest.has(token)) newest.set(token, row);
  }
  const shown = await withWorkflowOutcomes(
    db,
    [...newest.values()].map(({ workflow, action }) => ({ ...workflow, action })),
  );
  return shown
    .filter(({ outcome: { kind } }) => kind === 'not_filled' || kind === 'failed')
    .map(({ token, action, processor, completedAt, createdAt, outcome, signalId }) => ({
      code: 'signal_unfilled',
      severity: 'warning',
      since: (completedAt ?? createdAt).toISOString(),
      text: `${token} ${action === 'buy' ? 'Buy' : 'Sell'} from ${processor} filled nobody. ${outcomeText(outcome)}: ${outcome.topReason ?? 'no reason is recorded'}.`,
      link: `/signals?dialog=users&signal=${signalId}`,
      action: 'Show why',
    }));
}

interface UnclosedSignal {
  [field: string]: unknown;
  signalId: string;
  token: string;
  processor: string;
  action: string;
  since: Date;
  reason: string | null;
  open: number;
}

/** The newest closing signal of a token within a week, when it was not carried out and what it meant is still open. */
async function unclosedConditions({ clock, db }: ConditionDeps): Promise<AttentionCondition[]> {
  const since = new Date(clock.now().getTime() - 7 * DAY_MS);
  const { rows } = await db.execute<UnclosedSignal>(sql`
    with newest as (
      select distinct on (workflows.token) workflows.*, signals.action, signals.received_at, signals.from_admin,
        signals.owner_user_id
      from workflows join signals on signals.id = workflows.signal_id
      where signals.action in ('close', 'reduce') and workflows.created_at >= ${since}
      order by workflows.token, workflows.id desc
    )
    select newest.signal_id as "signalId", newest.token, newest.processor, newest.action,
      coalesce(newest.completed_at, newest.created_at) as since,
      coalesce(newest.top_reason, newest.error_message) as reason, still.open
    from newest
    cross join lateral (
      select count(*)::int as open from trades join signals as entry on entry.id = trades.signal_id
      where trades.token = newest.token and entry.received_at < newest.received_at
        and lower(trim(entry.processor)) = lower(trim(newest.processor))
        and (newest.from_admin or trades.user_id = newest.owner_user_id)
        and trades.position_closed_at is null and trades.protection_status is distinct from 'closed'
        and (trades.state <> 'done' or trades.fill_status in ('filled', 'partial'))
    ) as still
    where still.open > 0 and (newest.status in ('aborted', 'failed') or newest.failed_users_count > 0)
    order by 6`);
  return rows.map(({ signalId, token, processor, action, since: begin, reason, open }) => ({
    code: 'signal_not_closed',
    severity: 'critical',
    since: new Date(begin).toISOString(),
    text:
      `A signal of ${processor} to ${action} ${token} was not carried out, and ${open} ` +
      `${open === 1 ? 'position is' : 'positions are'} still open: ${reason ?? 'no reason is recorded'}.`,
    link: `/signals?dialog=users&signal=${signalId}`,
    action: 'Show why',
  }));
}
