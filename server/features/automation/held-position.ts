import { setTimeout as sleep } from 'node:timers/promises';
import { CLOSE_REASONS } from '#domain/closed-by.ts';
import { type Denial, deny } from '#domain/denials.ts';
import { decideOnHeldPosition, isSamePosition, openedApartMs } from '#domain/held-position.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform, type TradingSettings } from '#domain/user-settings.ts';
import { asExchangeError, ExchangeError, type OpenPosition } from '#server/exchanges/exchange.ts';
import { closePosition, endClosing } from '#server/features/position-maker/close-position.ts';
import { findLastFilledTrade, type LiveTrade } from '#server/features/position-maker/trades.store.ts';
import { readTradingPermission } from '#server/features/position-maker/trading-permission.ts';
import type { SignalRow } from '#server/features/signals/signals.store.ts';
import type { Lease } from '#server/platform/leases.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { denyHeldElsewhere } from './held-elsewhere.ts';
import type { WorkflowRow } from './workflows.store.ts';

const CLOSE_POLL_MS = 250;
const CLOSE_POLLS = 40;
const MOST_REFUSALS = 3;

/**
 * What a new order needs gone before it: another order of ours in the token, and a position (decisions §10). The
 * position is asked from the exchange; an opposite one of ours is closed first when the user's settings say so. One that
 * is held where the user traded before keeps the order away.
 * Null: the way is clear, or it is not ours to say (no credentials: sizing says so).
 */
export async function clearTheWay(
  deps: AutomationDeps,
  options: {
    signal: SignalRow;
    settings: TradingSettings;
    userId: string;
    workflow: Pick<WorkflowRow, 'id' | 'trigger'>;
    lease: Lease;
    /** Read under the lease: trades of the user in the token that are not done, or whose position may be open. */
    liveTrades: readonly LiveTrade[];
    /** Read under the lease: a closing order in the token of which it is not known what came of it. */
    isClosing: boolean;
  },
): Promise<Pick<Denial, 'reason'> | null> {
  const { signal, settings, userId, lease, liveTrades, isClosing } = options;
  const { id: workflowId, trigger: triggerType } = options.workflow;
  const { token, action } = signal;
  const platform = EXCHANGE_PLATFORMS.find((one) => one === settings.exchangePlatform);
  if (platform === undefined || !deps.exchanges.supported.includes(platform)) return null;
  // Nothing is ordered with a key that the exchange refuses or has not spoken of, closing orders included.
  const denial = await deps.accountGuard.deny(userId, platform);
  if (denial !== null) return denial.code === 'exchange_not_connected' ? null : denial;
  const account = await deps.findAccount(userId, platform);
  if (account === null) return null;
  if (liveTrades.some(({ state }) => state !== 'done')) return deny('entry_open', { token });

  const exchange = deps.exchanges.get(platform);
  const position = await exchange.fetchPosition(account, token).catch(asExchangeError);
  if (position instanceof ExchangeError) {
    return deny('exchange_unavailable', { exchange: platform, message: position.message });
  }
  // A process may have ended between its close and the news of it.
  if (position === null && isClosing) {
    const problem = await endClosing(deps, { exchange, account, token });
    if (problem !== null) return { reason: `A position in ${token} was closed, but ${problem}` };
  }
  const decision = decideOnHeldPosition({
    token,
    action,
    held:
      position === null
        ? null
        : { side: position.side, openedByUs: await isOurs(deps, { userId, token, platform, position }) },
    oppositeSignal: settings.oppositeSignal,
  });
  if (decision.decision === 'skip') return decision.denial;
  const elsewhere = await denyHeldElsewhere(deps, { token, platform, liveTrades });
  if (elsewhere !== null) return elsewhere;
  if (position === null || decision.decision === 'open') return null;

  // The intent asks again; but who was switched off meanwhile keeps the position as well.
  const withdrawn = await deps.db.transaction((tx) =>
    readTradingPermission(tx, {
      order: { userId, workflowId, triggerType },
      now: deps.clock.now(),
      config: deps.config,
    }),
  );
  if (withdrawn !== null) return withdrawn;

  let message = '';
  let refusals = 0;
  for (let poll = 1; poll <= CLOSE_POLLS && refusals < MOST_REFUSALS; poll += 1) {
    const reason = CLOSE_REASONS.reversedBy(signal.id);
    const isMeant = (open: OpenPosition) => isSamePosition(position, open);
    const result = await closePosition(deps, {
      exchange,
      account,
      token,
      isMeant,
      reason,
      workflowId,
      lease,
    });
    if (result.outcome === 'flat') return null;
    message = result.message;
    if (result.outcome === 'other') break;
    if (result.outcome === 'refused' || result.outcome === 'leftovers') refusals += 1;
    await sleep(CLOSE_POLL_MS);
  }
  return { reason: `The opposite position in ${token} could not be closed: ${message}` };
}

/**
 * The newest order of ours that filled in the token, at this exchange and in this mode, went the same way, was not closed
 * by us, and was at work when the position was opened: the position is taken to be its.
 */
async function isOurs(
  deps: AutomationDeps,
  held: { userId: string; token: string; platform: ExchangePlatform; position: OpenPosition },
): Promise<boolean> {
  const { userId, token, platform: exchangePlatform, position } = held;
  const { exchangeMode } = deps.config;
  const trade = await findLastFilledTrade(deps.db, { userId, token, exchangePlatform, exchangeMode });
  if (trade === null || trade.protectionStatus === 'closed') return false;
  return openedApartMs({ trade, position, now: deps.clock.now() }) !== null;
}
