import { type EligibilityResult, evaluateEligibility, judgeUser } from '#domain/eligibility/eligibility.ts';
import type { EligibilityInput } from '#domain/eligibility/eligibility-rules.ts';
import { eligibilityMode } from '#domain/eligibility/trading-mode.ts';
import { findStop } from '#domain/orders/trading-stop.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { listHaltedUsers } from '#server/admin/halts/trading-halts.store.ts';
import { listTradingUsers } from '#server/admin/settings/settings.store.ts';
import { listStops } from '#server/admin/stops/trading-stops.store.ts';
import type { Deps } from '#server/deps.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';

export type SelectDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'exchanges' | 'accountGuard'>;
type SelectSignal = Pick<SignalRow, 'processor' | 'timeframe' | 'ownerUserId' | 'fromAdmin' | 'token'>;

/** Time an exchange has to answer; later answers leave its user out of this signal. */
const ASK_PATIENCE_MS = 2_000;

/** The one decision on who trades a signal, shared by the workflow, the breakdown and every 'why not'. */
export async function selectUsers(deps: SelectDeps, signal: SelectSignal): Promise<EligibilityResult> {
  return evaluateEligibility(await readEligibilityInput(deps, signal));
}

/**
 * Like `selectUsers`, for a workflow, with what the decisions saw: if a user is excluded only because the key's account
 * is unknown, asks the exchange first.
 */
export async function selectUsersToTrade(
  deps: SelectDeps,
  signal: SelectSignal,
): Promise<{ input: EligibilityInput; result: EligibilityResult }> {
  let input = await readEligibilityInput(deps, signal);
  const unknown = listUnknownAccounts(input);
  if (unknown.length > 0) {
    const asking = unknown.map(({ userId, platform }) => deps.accountGuard.deny(userId, platform));
    // A late answer is stored and counts for the next signal.
    await Promise.race([Promise.allSettled(asking), deps.clock.sleep(ASK_PATIENCE_MS)]);
    input = await readEligibilityInput(deps, signal);
  }
  return { input, result: evaluateEligibility(input) };
}

function listUnknownAccounts(input: EligibilityInput): { userId: string; platform: ExchangePlatform }[] {
  return input.users.flatMap((user) => {
    const platform = EXCHANGE_PLATFORMS.find((one) => one === user.settings?.exchangePlatform);
    if (platform === undefined || user.exchangeDenial?.code !== 'exchange_key_not_inspected') return [];
    const known = { ...user, exchangeReady: true, exchangeDenial: null };
    return judgeUser(known, input).decision.status === 'eligible' ? [{ userId: user.id, platform }] : [];
  });
}

/** The current facts of the decision: every user, inactive ones included, and the mode. */
export async function readEligibilityInput(
  deps: SelectDeps,
  signal: SelectSignal,
): Promise<EligibilityInput> {
  const { db, config } = deps;
  const now = deps.clock.now();
  const { token, processor } = signal;
  const [users, halted, stops, denyAccount] = await Promise.all([
    listTradingUsers(db),
    listHaltedUsers(db),
    listStops(db, { now, timeZone: config.displayTimezone }),
    deps.accountGuard.readDenials(),
  ]);
  return {
    signal: {
      processor: signal.processor,
      timeframe: signal.timeframe,
      ownerUserId: signal.ownerUserId,
      audience: signal.fromAdmin ? 'everyone' : 'owner',
    },
    users: users.map((user) => {
      const exchangeDenial = denyAccount(user.id, user.settings?.exchangePlatform ?? '');
      return {
        ...user,
        tradingHalt: halted.get(user.id) ?? null,
        tradingStop: findStop(stops, { userId: user.id, token, processor }),
        exchangeReady: exchangeDenial === null,
        exchangeDenial,
      };
    }),
    mode: eligibilityMode(config.exchangeMode),
    supportedExchanges: deps.exchanges.supported,
    now,
  };
}
