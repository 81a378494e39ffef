import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm';
import type { FirstRunAnswer, FirstRunStepName } from '#contract/first-run.ts';
import { D } from '#domain/decimal.ts';
import { judgeUser } from '#domain/eligibility/eligibility.ts';
import type { EligibilityInput, EligibilityUser } from '#domain/eligibility/eligibility-rules.ts';
import { autoTradeEnabled, type ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { actionName } from '#domain/exits/signal-action.ts';
import { ANY_PROCESSOR, SIGNAL_PROCESSORS } from '#domain/user-settings.ts';
import { isWorkflowEnded } from '#domain/workflow/workflow-lifecycle.ts';
import { outcomeText } from '#domain/workflow/workflow-outcome.ts';
import { maskHookKey, openHookKey } from '#server/admin/hooks/hook-keys.ts';
import type { HookRow } from '#server/admin/hooks/hooks.store.ts';
import type { Deps } from '#server/deps.ts';
import { withWorkflowOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import { readEligibilityInput } from '#server/engine/workflow/select-users.ts';
import { tradesRealMoney } from '#server/ingest/send-test-delivery.ts';
import type { Db } from '#server/platform/db/database.ts';
import { hooks, signals, trades, users, workflows } from '#server/platform/db/schema.ts';

export type FirstRunDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'exchanges' | 'accountGuard' | 'secretBox'>;

const DEFAULT_TIMEFRAME = '15';
const DEMO_TOKEN = 'BTC';
const LONGEST_LIST = 2;

/** The state of every step on the way to the first fill, for the administrator who asks. Reads the database only. */
export async function readFirstRun(
  deps: FirstRunDeps,
  { userId }: { userId: string },
): Promise<FirstRunAnswer> {
  const { config, db } = deps;
  const [fill, arrived, hook, trading, last] = await Promise.all([
    findFirstFill(db),
    findArrived(db),
    findHookOf(db, userId),
    readTradingUsers(deps),
    findLastWorkflow(db),
  ]);
  const automatic = isAutomatic(deps);
  const mayDemo = !tradesRealMoney(config);
  const [first] = trading.able;
  const { webhook, detail } = describeHook(deps, hook);
  const details: Record<FirstRunStepName, { done: boolean; detail: string }> = {
    webhook: { done: webhook === 'ready', detail },
    user: {
      done: first !== undefined,
      detail: first === undefined ? NOBODY[config.exchangeMode] : describeUsers(trading.able, config),
    },
    trading: describeTrading(trading),
    signal: { done: arrived.candle && arrived.signal, detail: describeSending(mayDemo) },
    fill: {
      done: fill !== null,
      detail: fill ?? describeLast(last, { automatic, exchangeMode: config.exchangeMode }),
    },
  };
  return {
    filled: fill !== null,
    exchangeMode: config.exchangeMode,
    automatic,
    mayDemo,
    webhook,
    tradingUser:
      first === undefined
        ? null
        : {
            id: first.id,
            username: first.username,
            isPaused: trading.ready.length === 0 && first.settings?.activeTrading === true,
          },
    ...arrived,
    steps: Object.entries(details).map(([step, state]) => ({ step: step as FirstRunStepName, ...state })),
  };
}

const isAutomatic = ({ config: { appEnv, autoTrade } }: Pick<Deps, 'config'>) =>
  autoTradeEnabled({ appEnv, autoTrade: autoTrade.enabled ? 'enabled' : 'disabled' });

// ---- The webhook ----------------------------------------------------------------------------------------------

/** The user's own webhook; null when there is none. */
export async function findHookOf(db: Db, userId: string): Promise<HookRow | null> {
  const [hook] = await db.select().from(hooks).where(eq(hooks.userId, userId));
  return hook ?? null;
}

function describeHook(
  { secretBox }: Pick<Deps, 'secretBox'>,
  hook: HookRow | null,
): { webhook: FirstRunAnswer['webhook']; detail: string } {
  if (hook === null) {
    const detail = 'TradingView sends its candles and signals to an address with your own key.';
    return { webhook: 'none', detail };
  }
  if (hook.suspendedAt !== null) {
    const detail = 'Your webhook is suspended: lift the suspension under Configuration.';
    return { webhook: 'unusable', detail };
  }
  const key = openHookKey(secretBox, hook);
  return key === null
    ? { webhook: 'unusable', detail: 'The key of your webhook cannot be read: renew it under Configuration.' }
    : { webhook: 'ready', detail: `…/hooks/trading_view_signal?hkid=${maskHookKey(key)}` };
}

// ---- Users ----------------------------------------------------------------------------------------------------

export interface TradingUsers {
  /** Users who could trade a signal of their own processor and timeframe if their trading were on. */
  able: EligibilityUser[];
  /** Those of them who would trade it now. */
  ready: EligibilityUser[];
}

/** The processor and timeframe of a signal that the user's settings accept. */
export function signalFor(settings: EligibilityUser['settings'] | undefined): {
  processor: string;
  timeframe: string;
} {
  const processor = settings?.signalProcessor ?? ANY_PROCESSOR;
  const timeframe = settings?.signalTimeframe ?? ANY_PROCESSOR;
  return {
    processor: processor === ANY_PROCESSOR ? SIGNAL_PROCESSORS[0] : processor,
    timeframe: timeframe === ANY_PROCESSOR ? DEFAULT_TIMEFRAME : timeframe,
  };
}

/** In the order of their names. The rules are those of the workflow. */
export async function readTradingUsers(deps: FirstRunDeps): Promise<TradingUsers> {
  const audience = { fromAdmin: true, ownerUserId: '', token: DEMO_TOKEN, ...signalFor(undefined) };
  const input = await readEligibilityInput(deps, audience);
  const byName = input.users.toSorted((a, b) => (a.username < b.username ? -1 : 1));
  return {
    able: byName.filter(({ settings, ...user }) =>
      mayTrade(
        { ...user, settings: settings && { ...settings, activeTrading: true, tradingPausedUntil: null } },
        input,
      ),
    ),
    ready: byName.filter((user) => mayTrade(user, input)),
  };
}

function mayTrade(user: EligibilityUser, input: EligibilityInput): boolean {
  const signal = { ...input.signal, ...signalFor(user.settings) };
  return judgeUser(user, { ...input, signal }).decision.status === 'eligible';
}

const NOBODY: Record<ExchangeMode, string> = {
  paper: 'Nobody can trade on paper yet: it takes an active test user.',
  demo: 'Nobody can trade yet: it takes an active test user with a key of the exchange’s demo trading.',
  live: 'Nobody can trade yet: it takes an active regular user with a key of the exchange.',
};

function describeUsers(able: readonly EligibilityUser[], config: FirstRunDeps['config']): string {
  const [first, ...others] = able;
  const names = able.slice(0, LONGEST_LIST).map(({ username }) => username);
  const more = able.length - names.length;
  if (others.length > 0 || first?.settings == null) {
    return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  }
  const { signalProcessor, positionSizingMethod, exchangePlatform } = first.settings;
  const account =
    config.exchangeMode === 'paper'
      ? `paper account with $${withCommas(D(config.paperBalance).toFixed(2))}`
      : `account at ${exchangePlatform}`;
  return `${first.username}: ${account}, ${signalProcessor}, ${positionSizingMethod}`;
}

const withCommas = (amount: string) => amount.replace(/\B(?=(\d{3})+(?!\d))/g, ',');

function describeTrading({ able, ready }: TradingUsers): { done: boolean; detail: string } {
  const [first] = able;
  if (ready.length > 0) {
    const users = able.length === 1 ? 'user' : 'users';
    return { done: true, detail: `On for ${ready.length} of ${able.length} ${users}` };
  }
  if (first === undefined) return { done: false, detail: 'It needs a user who can trade first.' };
  const isPaused = first.settings?.activeTrading === true;
  return {
    done: false,
    detail: isPaused
      ? `Trading of ${first.username} is paused: end the pause in the user's settings.`
      : `Signals are recorded, and nothing is ordered for ${first.username} until trading is on.`,
  };
}

// ---- Signals and fills ----------------------------------------------------------------------------------------

async function findArrived(db: Db): Promise<{ candle: boolean; signal: boolean }> {
  const { rows } = await db.execute<{ candle: boolean; signal: boolean }>(sql`
    select exists (select from price_logs where from_admin) as candle,
      exists (select from signals where from_admin) as signal`);
  return rows[0] ?? { candle: false, signal: false };
}

const describeSending = (mayDemo: boolean): string =>
  mayDemo
    ? `Sizing needs the ATR of a candle, so both are sent together: ${DEMO_TOKEN} candle, then ${DEMO_TOKEN} Buy at its close. Or let TradingView send them to your webhook.`
    : 'Let TradingView send a candle and a signal to your webhook: while real money is traded, no test is sent.';

/** What the first filled order was, in words; null before it. */
async function findFirstFill(db: Db): Promise<string | null> {
  const [row] = await db
    .select({ trade: trades, username: users.username })
    .from(trades)
    .innerJoin(users, eq(users.id, trades.userId))
    .where(inArray(trades.fillStatus, ['filled', 'partial']))
    .orderBy(asc(trades.createdAt))
    .limit(1);
  if (row === undefined) return null;
  const { side, filledQuantity, token, averagePrice, entryPrice } = row.trade;
  const verb = side === 'buy' ? 'Bought' : 'Sold';
  return `${verb} ${filledQuantity} ${token} at ${averagePrice ?? entryPrice} for ${row.username}`;
}

async function findLastWorkflow(db: Db) {
  const rows = await db
    .select({ workflow: workflows, action: signals.action })
    .from(workflows)
    .innerJoin(signals, and(eq(signals.id, workflows.signalId), eq(signals.fromAdmin, true)))
    .orderBy(desc(workflows.createdAt), desc(workflows.id))
    .limit(1);
  const [row] = rows;
  if (row === undefined) return null;
  const [shown] = await withWorkflowOutcomes(db, [row.workflow]);
  return shown === undefined ? null : { ...shown, action: row.action };
}

function describeLast(
  last: Awaited<ReturnType<typeof findLastWorkflow>>,
  { automatic, exchangeMode }: { automatic: boolean; exchangeMode: ExchangeMode },
): string {
  const byHand =
    'Signals are only recorded here, because automatic trading is off: trigger one under Signals.';
  if (last === null) {
    if (!automatic) return byHand;
    const place = exchangeMode === 'paper' ? 'the paper exchange' : 'the exchange';
    return `Entry, stop and target rest at ${place} a moment after the signal.`;
  }
  const { token, action, status, outcome } = last;
  const name = `${token} ${actionName(action)}`;
  if (!isWorkflowEnded(status)) return `${name} is being traded at this moment.`;
  if (!automatic && last.trigger === 'automatic') return `${name} has arrived. ${byHand}`;
  const reason = outcome.topReason === null ? '' : `: ${outcome.topReason}`;
  return `${name} has filled nobody yet. ${outcomeText(outcome)}${reason}`;
}
