import { sql } from 'drizzle-orm';
import { autoTradeOff, denyWrongMode, eligibilityMode } from '#domain/eligibility/trading-mode.ts';
import { denyHalted } from '#domain/orders/trading-halt.ts';
import { denyStopped, findStop, type TradingStop } from '#domain/orders/trading-stop.ts';
import { denyCanary } from '#domain/workflow/canary.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import { listHaltedUsers } from '#server/admin/halts/trading-halts.store.ts';
import { activeStopsAsJson, readStops, shareEntries } from '#server/admin/stops/trading-stops.store.ts';
import type { Config } from '#server/platform/config/config.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { denyClosedSince, newerClosesAsJson, readNewerCloses } from './newer-closes.ts';
import type { TradeRow } from './trades.store.ts';

/** An order that must be allowed at the moment. */
export type IntendedOrder = Pick<TradeRow, 'userId' | 'workflowId' | 'triggerType' | 'token' | 'signalId'>;

interface Switches {
  isActive: boolean;
  isTestUser: boolean;
  /** Null without settings. */
  activeTrading: boolean | null;
  pausedUntil: Date | null;
}

/**
 * I9: why each order may not be placed now, null if it may, and the canaries that orders belong to; read inside the
 *    transaction that writes the intents. The rows stay locked until it commits: a switch turned off earlier is seen, a
 *    switch turned off later comes after the intent; the same holds for a stop of new entries. The switch of all
 *    automatic trading is read when the program starts.
 */
export async function readTradingPermissions(
  tx: Tx,
  options: {
    orders: readonly IntendedOrder[];
    now: Date;
    config: Pick<Config, 'appEnv' | 'autoTrade' | 'exchangeMode' | 'displayTimezone' | 'exitScope'>;
  },
): Promise<{ denials: (Denial | null)[]; canaries: WaitingCanary[] }> {
  const { orders, now, config } = options;
  const userIds = [...new Set(orders.map(({ userId }) => userId))];
  // Sent together, in this order: a halt is written under a lock of the user's row, so a halt that this read misses
  // comes after these orders.
  const signalIds = [...new Set(orders.map(({ signalId }) => signalId))];
  const workflowIds = [...new Set(orders.flatMap(({ workflowId }) => workflowId ?? []))];
  const [{ users, stops, processors, closes, canaries }, halts] = await Promise.all([
    lockSwitches(tx, { userIds, signalIds, workflowIds, now, timeZone: config.displayTimezone }),
    listHaltedUsers(tx, userIds),
  ]);
  const denials = orders.map((order) => {
    const processor = processors.get(order.signalId) ?? '';
    const stop = findStop(stops, { ...order, processor });
    const user = users.get(order.userId);
    if (user === undefined) return deny('user_not_found', {});
    if (user.activeTrading === null) return deny('settings_not_found', {});
    if (!user.isActive) return deny('user_inactive', {});
    const { isTestUser } = user;
    const wrongMode = denyWrongMode({ isTestUser, mode: eligibilityMode(config.exchangeMode) });
    if (wrongMode !== null) return wrongMode;
    if (stop !== null) return denyStopped(stop);
    const closedSince = denyClosedSince(closes, { ...order, scope: config.exitScope });
    if (closedSince !== null) return closedSince;
    const canary = canaries.find(({ workflowId }) => workflowId === order.workflowId);
    if (canary?.state === 'failed') return denyCanary(canary.reason ?? 'the reason is not known');
    const halt = halts.get(order.userId);
    if (halt !== undefined) return denyHalted(halt);
    // Nobody asked for the order of an automatic workflow.
    const off = order.triggerType === 'automatic' ? autoTradeOff(config) : null;
    if (off !== null) return deny('auto_trading_disabled', off);
    // Active trading and the pause steer workflows; they do not hold back an operator's own order.
    if (order.workflowId === null) return null;
    if (!user.activeTrading) return deny('active_trading_off', {});
    const { pausedUntil } = user;
    return pausedUntil !== null && pausedUntil > now
      ? deny('trading_paused', { until: pausedUntil.toISOString() })
      : null;
  });
  return { denials, canaries: canaries.filter(({ state }) => state === 'waiting') };
}

/** A workflow whose first users have not passed. */
export interface WaitingCanary {
  workflowId: string;
  state: 'waiting' | 'failed';
  reason: string | null;
  withinSeconds: number;
  /** An order was announced: its time runs. */
  isRunning: boolean;
}

interface Locked {
  users: Map<string, Switches>;
  /** Every stop of new entries. */
  stops: TradingStop[];
  /** The strategies of the signals; empty while no strategy is stopped. */
  processors: Map<string, string>;
  /** Signals that close what these orders open, and came after their workflows. */
  closes: ReturnType<typeof readNewerCloses>;
  canaries: WaitingCanary[];
}

/**
 * The switches of the users, whose rows, settings included, stay as they are until the transaction ends, and the stops:
 * none is made before it ends. The second statement sees what was committed before the first one had its locks.
 */
async function lockSwitches(
  tx: Tx,
  options: {
    userIds: readonly string[];
    signalIds: readonly string[];
    workflowIds: readonly string[];
    now: Date;
    timeZone: string;
  },
): Promise<Locked> {
  const { userIds, signalIds, workflowIds, now, timeZone } = options;
  const settings = tx
    .execute<{ id: string; activeTrading: boolean; pausedUntil: Date | string | null }>(sql`
    select user_id as id, active_trading as "activeTrading", trading_paused_until as "pausedUntil",
      ${shareEntries} as shared
    from user_settings where ${isOneOf(sql`user_id`, userIds)} order by user_id for share`)
    .execute();
  const users = tx
    .execute<{
      id: string;
      isActive: boolean;
      isTestUser: boolean;
      stops: unknown;
      processors: unknown;
      closes: unknown;
      canaries: WaitingCanary[] | null;
    }>(sql`
    select id, is_active as "isActive", is_test_user as "isTestUser", ${activeStopsAsJson(now)} as stops,
      ${newerClosesAsJson(isOneOf(sql`begun.id`, workflowIds))} as closes,
      (select json_agg(json_build_object('workflowId', workflows.id, 'state', canary_state, 'reason', canary_reason,
          'withinSeconds', canary->'withinSeconds', 'isRunning', canary_due_at is not null)) from workflows
        where ${isOneOf(sql`workflows.id`, workflowIds)} and canary_state in ('waiting', 'failed')) as canaries,
      (select json_object_agg(signals.id, signals.processor) from signals
        where ${isOneOf(sql`signals.id`, signalIds)}
          and exists (select from trading_stops where scope_kind = 'strategy' and lifted_at is null)) as processors
    from users where ${isOneOf(sql`id`, userIds)} order by id for share of users`)
    .execute();
  const [ofUsers, ofSettings] = await Promise.all([users, settings]);
  const settingsById = new Map(ofSettings.rows.map((row) => [row.id, row]));
  const [first] = ofUsers.rows;
  return {
    users: new Map(
      ofUsers.rows.map(({ id, isActive, isTestUser }) => {
        const { activeTrading = null, pausedUntil = null } = settingsById.get(id) ?? {};
        const until = pausedUntil === null ? null : new Date(pausedUntil);
        return [id, { isActive, isTestUser, activeTrading, pausedUntil: until }];
      }),
    ),
    stops: readStops(first?.stops, { now, timeZone }),
    closes: readNewerCloses(first?.closes),
    canaries: first?.canaries ?? [],
    processors: new Map(Object.entries((first?.processors ?? {}) as Record<string, string>)),
  };
}
