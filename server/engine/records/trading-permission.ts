import { sql } from 'drizzle-orm';
import { autoTradeOff, denyWrongMode, eligibilityMode } from '#domain/eligibility/trading-mode.ts';
import { denyHalted } from '#domain/orders/trading-halt.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import { listHaltedUsers } from '#server/admin/halts/trading-halts.store.ts';
import type { Config } from '#server/platform/config/config.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import type { TradeRow } from './trades.store.ts';

/** An order that must be allowed at the moment. */
export type IntendedOrder = Pick<TradeRow, 'userId' | 'workflowId' | 'triggerType'>;

interface Switches {
  isActive: boolean;
  isTestUser: boolean;
  /** Null without settings. */
  activeTrading: boolean | null;
  pausedUntil: Date | null;
}

/**
 * I9: why each order may not be placed now, null if it may; read inside the transaction that writes the intents. The
 *    rows stay locked until it commits: a switch turned off earlier is seen, a switch turned off later comes after the
 *    intent. The switch of all automatic trading is read when the program starts.
 */
export async function readTradingPermissions(
  tx: Tx,
  options: {
    orders: readonly IntendedOrder[];
    now: Date;
    config: Pick<Config, 'appEnv' | 'autoTrade' | 'exchangeMode'>;
  },
): Promise<(Denial | null)[]> {
  const { orders, now, config } = options;
  const userIds = [...new Set(orders.map(({ userId }) => userId))];
  // Sent together, in this order: a halt is written under a lock of the user's row, so a halt that this read misses
  // comes after these orders.
  const [users, halts] = await Promise.all([lockSwitches(tx, userIds), listHaltedUsers(tx, userIds)]);
  return orders.map((order) => {
    const user = users.get(order.userId);
    if (user === undefined) return deny('user_not_found', {});
    if (user.activeTrading === null) return deny('settings_not_found', {});
    if (!user.isActive) return deny('user_inactive', {});
    const { isTestUser } = user;
    const wrongMode = denyWrongMode({ isTestUser, mode: eligibilityMode(config.exchangeMode) });
    if (wrongMode !== null) return wrongMode;
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
}

/** The switches of the users, whose rows, settings included, stay as they are until the transaction ends. */
async function lockSwitches(tx: Tx, userIds: readonly string[]): Promise<Map<string, Switches>> {
  const settings = tx
    .execute<{ id: string; activeTrading: boolean; pausedUntil: Date | string | null }>(sql`
    select user_id as id, active_trading as "activeTrading", trading_paused_until as "pausedUntil"
    from user_settings where ${isOneOf(sql`user_id`, userIds)} order by user_id for share`)
    .execute();
  const users = tx
    .execute<{ id: string; isActive: boolean; isTestUser: boolean }>(sql`
    select id, is_active as "isActive", is_test_user as "isTestUser"
    from users where ${isOneOf(sql`id`, userIds)} order by id for share`)
    .execute();
  const [ofUsers, ofSettings] = await Promise.all([users, settings]);
  const settingsById = new Map(ofSettings.rows.map((row) => [row.id, row]));
  return new Map(
    ofUsers.rows.map(({ id, isActive, isTestUser }) => {
      const { activeTrading = null, pausedUntil = null } = settingsById.get(id) ?? {};
      const until = pausedUntil === null ? null : new Date(pausedUntil);
      return [id, { isActive, isTestUser, activeTrading, pausedUntil: until }];
    }),
  );
}
