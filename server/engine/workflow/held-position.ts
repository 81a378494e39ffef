import { setTimeout as sleep } from 'node:timers/promises';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import {
  decideOnHeldPosition,
  isSamePosition,
  openedApartMs,
  type Reversal,
} from '#domain/orders/held-position.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform, type TradingSettings } from '#domain/user-settings.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import type { UserAccount } from '#server/deps.ts';
import { closePosition, endClosing } from '#server/engine/orders/close-position.ts';
import { whyElsewhere } from '#server/engine/orders/trade-account.ts';
import { findLastFilledTrade, type LiveTrade } from '#server/engine/orders/trades.store.ts';
import { readTradingPermission } from '#server/engine/orders/trading-permission.ts';
import { asExchangeError, ExchangeError, type OpenPosition } from '#server/exchanges/exchange.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Lease } from '#server/platform/jobs/leases.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { denyHeldElsewhere } from './held-elsewhere.ts';
import type { KnownCloses } from './reversals.store.ts';
import type { WorkflowRow } from './workflows.store.ts';

const CLOSE_POLL_MS = 250;
const CLOSE_POLLS = 40;
const MOST_REFUSALS = 3;

/** What is known of a user and a token, read under the lease. */
export interface TokenFacts extends KnownCloses {
  /** Trades that are not done, or whose position may be open. */
  liveTrades: readonly LiveTrade[];
}

export type Way =
  /** `reversal`: what was closed for this signal, now or by a run that was interrupted. */
  { isClear: true; reversal: Reversal | null } | { isClear: false; denial: Pick<Denial, 'reason'> };

/**
 * What a new order needs gone before it: another order of ours in the token, and a position. The
 * position is asked from the exchange; an opposite one of ours is closed first when the user's settings say so, and
 * nothing but its balance would keep the signal from being traded. One that is held where the user traded before keeps
 * the order away. The way is also clear where that is not ours to say (no credentials: sizing says so).
 */
export async function clearTheWay(
  deps: AutomationDeps,
  options: {
    signal: SignalRow;
    settings: TradingSettings;
    userId: string;
    workflow: Pick<WorkflowRow, 'id' | 'trigger'>;
    lease: Lease;
    facts: TokenFacts;
    /** Why there will be no order in the place of what is closed, as far as it is known before. */
    denyOrder: () => Promise<Denial | null>;
  },
): Promise<Way> {
  const { signal, settings, userId, lease, facts, denyOrder } = options;
  const { id: workflowId, trigger: triggerType } = options.workflow;
  const { liveTrades, closingAt } = facts;
  const { token, action } = signal;
  const platform = EXCHANGE_PLATFORMS.find((one) => one === settings.exchangePlatform);
  if (platform === undefined || !deps.exchanges.supported.includes(platform)) return clear(facts);
  // Nothing is ordered with a key that the exchange refuses or has not spoken of, closing orders included.
  const denial = await deps.accountGuard.deny(userId, platform);
  if (denial !== null) return denial.code === 'exchange_not_connected' ? clear(facts) : blocked(denial);
  const account = await deps.findAccount(userId, platform);
  if (account === null) return clear(facts);
  if (liveTrades.some(({ state }) => state !== 'done')) return blocked(deny('entry_open', { token }));

  const exchange = deps.exchanges.get(platform);
  const position = await exchange.fetchPosition(account, token).catch(asExchangeError);
  if (position instanceof ExchangeError) {
    return blocked(deny('exchange_unavailable', { exchange: platform, message: position.message }));
  }
  // A process may have ended between its close and the news of it.
  if (position === null && closingAt.includes(platform)) {
    const problem = await endClosing(deps, { exchange, account, token });
    if (problem !== null) return blocked({ reason: `A position in ${token} was closed, but ${problem}` });
  }
  const decision = decideOnHeldPosition({
    token,
    action,
    held:
      position === null
        ? null
        : { side: position.side, openedByUs: await isOurs(deps, { account, token, platform, position }) },
    oppositeSignal: settings.oppositeSignal,
  });
  if (decision.decision === 'skip') return blocked(decision.denial);
  const elsewhere = await denyHeldElsewhere(deps, { token, platform, account, liveTrades });
  if (elsewhere !== null) return blocked(elsewhere);
  // What an interrupted run sent to close it has done so.
  if (position === null || decision.decision === 'open') {
    return clear({ reversal: facts.reversal && 'closed' });
  }

  const refusal = await denyOrder();
  if (refusal !== null) return blocked(refusal);

  // The intent asks again; but who was switched off meanwhile keeps the position as well.
  const withdrawn = await deps.db.transaction((tx) =>
    readTradingPermission(tx, {
      order: { userId, workflowId, triggerType },
      now: deps.clock.now(),
      config: deps.config,
    }),
  );
  if (withdrawn !== null) return blocked(withdrawn);

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
    // At the first look it was gone without this run.
    const reversal = poll === 1 ? facts.reversal && 'closed' : 'closed';
    if (result.outcome === 'flat') return clear({ reversal });
    message = result.message;
    if (result.outcome === 'other') break;
    if (result.outcome === 'refused' || result.outcome === 'leftovers') refusals += 1;
    await sleep(CLOSE_POLL_MS);
  }
  return blocked({ reason: `The opposite position in ${token} could not be closed: ${message}` });
}

const clear = ({ reversal }: Pick<KnownCloses, 'reversal'>): Way => ({ isClear: true, reversal });
const blocked = (denial: Pick<Denial, 'reason'>): Way => ({ isClear: false, denial });

/**
 * The newest order of ours that filled in the token, at this exchange and in this mode, was in this account, went the
 * same way, is not known to be closed, and was at work when the position was opened: the position is taken to be its.
 */
async function isOurs(
  deps: AutomationDeps,
  held: { account: UserAccount; token: string; platform: ExchangePlatform; position: OpenPosition },
): Promise<boolean> {
  const { account, token, platform: exchangePlatform, position } = held;
  const { userId } = account;
  const { exchangeMode } = deps.config;
  const trade = await findLastFilledTrade(deps.db, { userId, token, exchangePlatform, exchangeMode });
  if (trade === null || trade.protectionStatus === 'closed' || trade.positionClosedAt !== null) return false;
  if (whyElsewhere(deps, { trade, account, what: 'position' }) !== null) return false;
  return openedApartMs({ trade, position, now: deps.clock.now() }) !== null;
}
