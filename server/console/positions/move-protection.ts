import type { MoveProtectionAnswer, ProtectionRules } from '#contract/positions.ts';
import { D } from '#domain/decimal.ts';
import { moveProblems, risksMore } from '#domain/orders/protection.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { deny } from '#domain/workflow/denials.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { EngineDeps, UserAccount } from '#server/deps.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { positionSubject } from '#server/engine/orders/close-position.ts';
import {
  findMove,
  type RequestedMove,
  requestMove,
  withdrawMove,
} from '#server/engine/orders/protection-moves.store.ts';
import { findOwnTrade } from '#server/engine/protection/find-own-trade.ts';
import {
  findOpenTradePlatform,
  listOpenTrades,
  type OpenTrade,
} from '#server/engine/protection/positions.store.ts';
import type { AccountReader } from '#server/engine/protection/read-account.ts';
import { describeHidden, tradesOfAccount } from '#server/engine/protection/trades-of-account.ts';
import { asExchangeError, type Exchange, ExchangeError, type Holding } from '#server/exchanges/exchange.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import { AppError, invalidFields, required } from '#server/platform/http/errors.ts';

const ANSWER_WITHIN_MS = 15_000;
const POLL_MS = 100;

interface MoveTask {
  userId: string;
  token: string;
  /** Prices; null leaves one where it is. */
  stopLoss: string | null;
  takeProfit: string | null;
  requestedBy: string;
  actor: AuditActor;
  /** Throws unless the operator may take more risk. */
  requireStepUp: () => void;
}

/**
 * Moves the stop or target of a position that was opened here, for an operator. The request is recorded before anything
 * is sent, and carried out as a step of the position's trade: under its lease, by whichever instance gets there, also
 * after a crash. Throws for prices that do not fit (400), for a position that is not open or not ours (404), and for
 * more risk without step-up (403).
 */
export async function moveProtection(
  deps: EngineDeps,
  reader: AccountReader,
  task: MoveTask,
  { answerWithinMs = ANSWER_WITHIN_MS }: { answerWithinMs?: number } = {},
): Promise<MoveProtectionAnswer> {
  const { userId, token, stopLoss, takeProfit } = task;
  const exchange = await findExchange(deps, task);
  const account = await deps.findAccount(userId, exchange.platform);
  if (account === null) {
    const denial = await deps.accountGuard.deny(userId, exchange.platform);
    return notMoved((denial ?? deny('exchange_not_connected', { exchange: exchange.platform })).reason);
  }
  const found = await findOwnPosition(deps, { task, exchange, account }).catch(asExchangeError);
  if (found instanceof ExchangeError) return notMoved(found.message);
  const { holding, trade, tickSize, markPrice } = found;
  const { position, protection } = holding;
  const { side, liquidationPrice } = position;
  const prices = { stopLoss, takeProfit };
  const problems = moveProblems({ side, markPrice, liquidationPrice, tickSize, prices });
  if (problems.length > 0) {
    throw invalidFields(problems.map(({ field, message }) => ({ path: field, message })));
  }
  if (isThere(prices.stopLoss, protection.stopLoss) && isThere(prices.takeProfit, protection.takeProfit)) {
    return { success: true, isPending: false, message: 'Stop and target are there already' };
  }
  if (risksMore({ side, present: protection.stopLoss, stopLoss })) task.requireStepUp();

  const move: RequestedMove = {
    tradeId: trade.id,
    ...prices,
    oldStopLoss: protection.stopLoss,
    oldTakeProfit: protection.takeProfit,
    requestedBy: task.requestedBy,
  };
  const moveId = await requestMove(deps, move, {
    actor: task.actor,
    action: 'position protection move requested',
    subject: await positionSubject(deps.db, task),
    before: { stopLoss: move.oldStopLoss, takeProfit: move.oldTakeProfit },
    after: { tradeId: trade.id, ...given({ stopLoss, takeProfit }) },
  });
  if (moveId === null) {
    return notMoved(`an order or the stop of this position in ${token} is being worked on; try again`);
  }
  const key = { userId, exchangePlatform: exchange.platform };
  const answer = await carryOut(deps, { moveId, tradeId: trade.id, answerWithinMs }).finally(() =>
    reader.forget(key),
  );
  // Read the account immediately, so that the screen shows what holds.
  await reader.read(key, 0).catch(() => undefined);
  return answer;
}

/** Without those that stay where they are. */
const given = (prices: Record<'stopLoss' | 'takeProfit', string | null>) =>
  Object.fromEntries(Object.entries(prices).filter(([, price]) => price !== null));

const notMoved = (why: string): MoveProtectionAnswer => ({
  success: false,
  isPending: false,
  message: `Not moved: ${why}`,
});

const isThere = (wanted: string | null, held: string | null): boolean =>
  wanted === null || (held !== null && D(held).eq(wanted));

/** What a new stop or target of a position that was opened here has to fit. */
export async function readProtectionRules(
  deps: EngineDeps,
  position: { userId: string; token: string },
): Promise<ProtectionRules> {
  const exchange = await findExchange(deps, position);
  const contract = await exchange.fetchContract(position.token).catch(asExchangeError);
  if (contract instanceof ExchangeError || contract === null) {
    const message = contract?.message ?? `${exchange.platform} lists no contract for ${position.token}`;
    throw new AppError('unavailable', { message });
  }
  return { tickSize: contract.tickSize };
}

async function findExchange(
  deps: EngineDeps,
  { userId, token }: { userId: string; token: string },
): Promise<Exchange> {
  required(await findUser(deps.db, userId), 'userNotFound');
  const name = await findOpenTradePlatform(deps.db, { userId, token });
  if (name === null) throw notOurs(token);
  const platform: ExchangePlatform | undefined = deps.exchanges.supported.find((one) => one === name);
  if (platform === undefined) {
    const context = { exchange: name, mode: deps.config.exchangeMode };
    throw new AppError('unavailable', { message: deny('exchange_unsupported', context).reason });
  }
  return deps.exchanges.get(platform);
}

const notOurs = (token: string) =>
  new AppError('positionNotFound', { message: `No open position in ${token} was opened here` });

async function findOwnPosition(
  deps: EngineDeps,
  { task, exchange, account }: { task: MoveTask; exchange: Exchange; account: UserAccount },
): Promise<{ holding: Holding; trade: OpenTrade; tickSize: string; markPrice: string }> {
  const { userId, token } = task;
  const context = { priority: 'protect' } as const;
  const holding = await exchange.fetchHolding(account, token, context);
  const open = await listOpenTrades(deps.db, { userId, exchangePlatform: exchange.platform });
  const { here, hidden } = tradesOfAccount(deps, open, account);
  const hiddenHere = hidden.filter(({ trade }) => trade.token === token);
  if (hiddenHere.length > 0) throw new ExchangeError('refused', describeHidden(hiddenHere));
  const of = { userId, exchange, account, candidates: here };
  const trade = holding && (await findOwnTrade(deps, { ...of, position: holding.position }));
  if (!trade) throw notOurs(token);
  const contract = await exchange.fetchContract(token, context);
  if (contract === null) {
    throw new ExchangeError('refused', `${exchange.platform} lists no contract for ${token}`);
  }
  const markPrice = holding.position.markPrice ?? (await exchange.fetchTicker(token, context))?.markPrice;
  if (markPrice === undefined) {
    throw new ExchangeError('unknown', `${exchange.platform} has no price of ${token}`);
  }
  return { holding, trade, tickSize: contract.tickSize, markPrice };
}

/** Works on the move here at once, and waits for whichever worker ends it. */
async function carryOut(
  deps: EngineDeps,
  { moveId, tradeId, answerWithinMs }: { moveId: string; tradeId: string; answerWithinMs: number },
): Promise<MoveProtectionAnswer> {
  const deadline = deps.clock.monotonicMs() + answerWithinMs;
  await advanceTrade(deps, tradeId);
  for (;;) {
    const move = required(await findMove(deps.db, moveId), 'internal');
    const { state, message } = move;
    if (state === 'moved' || state === 'failed') {
      return { success: state === 'moved', isPending: false, message: message ?? '' };
    }
    if (deps.clock.monotonicMs() > deadline) {
      const late = 'Not moved: it could not be begun in time';
      if (await withdrawMove(deps, { id: moveId, message: late })) {
        return { success: false, isPending: false, message: late };
      }
      const pending =
        'The outcome is not known yet; the move is being completed, a stop is in place meanwhile';
      return { success: false, isPending: true, message: pending };
    }
    await deps.clock.sleep(POLL_MS);
  }
}
