import { eq } from 'drizzle-orm';
import { autoTradeOff, denyWrongMode, eligibilityMode } from '#domain/eligibility/trading-mode.ts';
import { denyHalted } from '#domain/orders/trading-halt.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import { findHalt } from '#server/admin/halts/trading-halts.store.ts';
import type { Config } from '#server/platform/config/config.ts';
import { builtOnce } from '#server/platform/db/built-once.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';
import { together } from '#server/platform/db/together.ts';
import type { TradeRow } from './trades.store.ts';

const lockSwitches = builtOnce<{ userId: string }>()((db, value) =>
  db
    .select({
      isActive: users.isActive,
      isTestUser: users.isTestUser,
      activeTrading: userSettings.activeTrading,
      pausedUntil: userSettings.tradingPausedUntil,
    })
    .from(users)
    .innerJoin(userSettings, eq(userSettings.userId, users.id))
    .where(eq(users.id, value('userId')))
    .for('share'),
);

/**
 * I9: whether the order may be placed now, read inside the transaction that writes its intent. The rows stay locked
 *    until it commits: a switch turned off earlier is seen, a switch turned off later comes after the intent. The
 *    switch of all automatic trading is read when the program starts.
 */
export async function readTradingPermission(
  tx: Tx,
  options: {
    order: Pick<TradeRow, 'userId' | 'workflowId' | 'triggerType'>;
    now: Date;
    config: Pick<Config, 'appEnv' | 'autoTrade' | 'exchangeMode'>;
  },
): Promise<Denial | null> {
  const { order, now, config } = options;
  const { userId, workflowId, triggerType } = order;
  // Sent together, in this order: a halt is written under a lock of the user's row, so a halt that this read misses
  // comes after this order.
  const [[user], halt] = await together(lockSwitches(tx, { userId }), findHalt(tx, userId));
  if (user === undefined)
    return deny((await exists(tx, userId)) ? 'settings_not_found' : 'user_not_found', {});
  if (!user.isActive) return deny('user_inactive', {});
  const wrongMode = denyWrongMode({
    isTestUser: user.isTestUser,
    mode: eligibilityMode(config.exchangeMode),
  });
  if (wrongMode !== null) return wrongMode;
  if (halt !== null) return denyHalted(halt);
  // Nobody asked for the order of an automatic workflow.
  const off = triggerType === 'automatic' ? autoTradeOff(config) : null;
  if (off !== null) return deny('auto_trading_disabled', off);
  // Active trading and the pause steer workflows; they do not hold back an operator's own order.
  if (workflowId === null) return null;
  if (!user.activeTrading) return deny('active_trading_off', {});
  const { pausedUntil } = user;
  return pausedUntil !== null && pausedUntil > now
    ? deny('trading_paused', { until: pausedUntil.toISOString() })
    : null;
}

async function exists(tx: Tx, userId: string): Promise<boolean> {
  return (await tx.select({ id: users.id }).from(users).where(eq(users.id, userId))).length > 0;
}
