import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import { decideOnHeldPosition, isSamePosition, type Reversal } from '#domain/orders/held-position.ts';
import type { ExchangePlatform, TradingSettings } from '#domain/user-settings.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import type { EngineDeps, UserAccount } from '#server/deps.ts';
import { denyReversal } from '#server/engine/limits/entry-book.ts';
import { closePosition, endClosing } from '#server/engine/orders/close-position.ts';
import { openTradeAccount, whyElsewhere } from '#server/engine/orders/trade-account.ts';
import { findOwnTrade } from '#server/engine/protection/find-own-trade.ts';
import { findLastFilledTrade, type LiveTrade, type TradePlace } from '#server/engine/records/trades.store.ts';
import { readTradingPermissions } from '#server/engine/records/trading-permission.ts';
import type { WorkflowRow } from '#server/engine/records/workflows.store.ts';
import {
  type AccountOpening,
  denyUnread,
  type OpenedAccount,
} from '#server/engine/sizing/generate-position.ts';
import { asExchangeError, ExchangeError, type OpenPosition } from '#server/exchanges/exchange.ts';
import { denyClock } from '#server/exchanges/exchange-clock.ts';
import type { EntrySignalRow } from '#server/ingest/stored-signals.ts';
import type { Tx } from '#server/platform/db/database.ts';
import type { Lease } from '#server/platform/jobs/leases.ts';
import type { TokenFacts } from './claim-wave.ts';

const CLOSE_POLL_MS = 250;
const CLOSE_POLLS = 40;
const MOST_REFUSALS = 3;

type Blockers =
  /** `reversal`: the position closed for this signal, now or by an interrupted run. */
  { isClear: true; reversal: Reversal | null } | { isClear: false; denial: Pick<Denial, 'reason'> };

/**
 * Resolves whatever blocks a new order: another order or a position in the token. Closes an opposite position that we
 * opened if the settings say so and only the size could still refuse the signal. A position at the exchange that the
 * user left blocks the order. Without credentials nothing blocks: sizing refuses then.
 */
export async function resolveBlockers(
  deps: EngineDeps,
  options: {
    signal: EntrySignalRow;
    settings: TradingSettings;
    opened: AccountOpening;
    workflow: Pick<WorkflowRow, 'id' | 'trigger'>;
    lease: Lease;
    facts: TokenFacts;
    readPosition: (opened: OpenedAccount) => Promise<OpenPosition | null>;
    /** Why the signal will not be ordered, as far as known before the close. */
    denyOrder: () => Denial | null;
  },
): Promise<Blockers> {
  const { signal, settings, opened, lease, facts, readPosition, denyOrder } = options;
  const { id: workflowId, trigger: triggerType } = options.workflow;
  const { liveTrades, closingAt } = facts;
  const { token, action } = signal;
  if (!opened.ok) {
    const { denial } = opened;
    // With a refused or uninspected key nothing is ordered, closing orders included.
    const isAbsent = denial.code === 'exchange_not_connected' || denial.code === 'exchange_unsupported';
    return isAbsent ? clear(facts) : blocked(denial);
  }
  const { account, exchange, platform } = opened;
  const { userId } = account;
  if (liveTrades.some(({ state }) => state !== 'done')) return blocked(deny('entry_open', { token }));

  const position = await readPosition(opened).catch(asExchangeError);
  if (position instanceof ExchangeError) return blocked(denyUnread(opened, position));
  // A process may have ended between its close and the record of the close.
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
  // The close of an interrupted run has worked.
  if (position === null || decision.decision === 'open') {
    return clear({ reversal: facts.reversal && 'closed' });
  }

  const refusal = denyOrder();
  if (refusal !== null) return blocked(refusal);

  // The order intent checks this again; the check here keeps the position open.
  const order = { userId, workflowId, triggerType, token, signalId: signal.id };
  const denyNow = async (tx: Tx): Promise<Denial | null> => {
    const now = deps.clock.now();
    const { exchangeMode } = deps.config;
    const permissions = await readTradingPermissions(tx, { orders: [order], now, config: deps.config });
    const [denial = null] = permissions.denials;
    return (
      denial ?? denyClock(exchange) ?? (await denyReversal(tx, { order, side: action, now, exchangeMode }))
    );
  };

  let message = '';
  let refusals = 0;
  for (let poll = 1; poll <= CLOSE_POLLS && refusals < MOST_REFUSALS; poll += 1) {
    const reason = CLOSE_REASONS.reversedBy(signal.id);
    const isMeant = (open: OpenPosition) => isSamePosition(position, open);
    const begun = poll > 1 ? {} : { deny: denyNow };
    const request = { exchange, account, token, isMeant, reason, workflowId, lease, ...begun };
    const result = await closePosition(deps, request);
    // Flat at the first poll: the position was closed before this run.
    const reversal = poll === 1 ? facts.reversal && 'closed' : 'closed';
    if (result.outcome === 'flat') return clear({ reversal });
    if (result.outcome === 'denied') return blocked(result.denial);
    message = result.message;
    if (result.outcome === 'other') break;
    if (result.outcome === 'refused' || result.outcome === 'leftovers') refusals += 1;
    await deps.clock.sleep(CLOSE_POLL_MS);
  }
  return blocked({ reason: `The opposite position in ${token} could not be closed: ${message}` });
}

const clear = ({ reversal }: Pick<TokenFacts, 'reversal'>): Blockers => ({ isClear: true, reversal });
const blocked = (denial: Pick<Denial, 'reason'>): Blockers => ({ isClear: false, denial });

/**
 * Whether a position counts as opened by us: our newest filled order in the token, at this exchange and in this mode,
 * had this account and direction, and neither our records nor the exchange's history show its position closed.
 */
async function isOurs(
  deps: EngineDeps,
  held: { account: UserAccount; token: string; platform: ExchangePlatform; position: OpenPosition },
): Promise<boolean> {
  const { account, token, platform: exchangePlatform, position } = held;
  const { userId } = account;
  const { exchangeMode } = deps.config;
  const trade = await findLastFilledTrade(deps.db, { userId, token, exchangePlatform, exchangeMode });
  if (trade === null || trade.protectionStatus === 'closed' || trade.positionClosedAt !== null) return false;
  if (whyElsewhere(deps, { trade, account, what: 'position' }) !== null) return false;
  const exchange = deps.exchanges.get(exchangePlatform);
  const of = { userId, exchange, account, candidates: [trade], position };
  return (await findOwnTrade(deps, of)) !== null;
}

/**
 * Why a user who changed the exchange, or the account there, is not traded at the new one: a position that this product
 * opened in the token is, or may be, still held at the old one. That exchange is asked, but nothing is ordered there.
 */
async function denyHeldElsewhere(
  deps: EngineDeps,
  options: {
    token: string;
    platform: ExchangePlatform;
    /** The connected account, whose position was already read. */
    account: UserAccount;
    liveTrades: readonly LiveTrade[];
  },
): Promise<Denial | null> {
  const { token, platform, account, liveTrades } = options;
  for (const trade of liveTrades) {
    const other = deps.exchanges.supported.find((one) => one === trade.exchangePlatform);
    if (other === undefined) continue;
    if (trade.exchangeMode !== null && trade.exchangeMode !== deps.config.exchangeMode) continue;
    if (other === platform && whyElsewhere(deps, { trade, account, what: 'position' }) === null) continue;
    const held = await readPositionOf(deps, { trade, platform: other, token });
    if (typeof held === 'string') {
      return deny('perhaps_held_elsewhere', { token, exchange: other, problem: held });
    }
    if (held !== null) return deny('held_elsewhere', { token, side: held.side, exchange: other });
  }
  return null;
}

/** The position that the trade's account holds in the token; a string says why the account cannot be asked. */
async function readPositionOf(
  deps: EngineDeps,
  { trade, platform, token }: { trade: TradePlace; platform: ExchangePlatform; token: string },
): Promise<OpenPosition | null | string> {
  const { account, problem } = await openTradeAccount(deps, trade);
  // A key that the exchange refuses may only look up orders.
  if (account === null || problem !== null) return problem ?? 'its account is not known';
  const answer = await deps.exchanges.get(platform).fetchPosition(account, token).catch(asExchangeError);
  return answer instanceof ExchangeError ? answer.message : answer;
}
