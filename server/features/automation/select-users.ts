import { type EligibilityInput, type EligibilityResult, evaluateEligibility } from '#domain/eligibility.ts';
import { eligibilityMode } from '#domain/trading-mode.ts';
import type { Deps } from '#server/deps.ts';
import { listTradingUsers } from '#server/features/settings/settings.store.ts';
import type { SignalRow } from '#server/features/signals/signals.store.ts';
import { listHaltedUsers } from '#server/features/trading-halts/trading-halts.store.ts';

type SelectDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'exchanges' | 'accountGuard'>;
type SelectSignal = Pick<SignalRow, 'processor' | 'timeframe' | 'ownerUserId' | 'fromAdmin'>;

/** The one decision on who trades a signal: the workflow, the breakdown and every 'why not' run this. */
export async function selectUsers(deps: SelectDeps, signal: SelectSignal): Promise<EligibilityResult> {
  return evaluateEligibility(await readEligibilityInput(deps, signal));
}

/** What the decision is made of, as things stand now: every user, inactive ones included, and the mode. */
export async function readEligibilityInput(
  deps: SelectDeps,
  signal: SelectSignal,
): Promise<EligibilityInput> {
  const { db, config } = deps;
  const [users, halted, denyAccount] = await Promise.all([
    listTradingUsers(db),
    listHaltedUsers(db),
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
        exchangeReady: exchangeDenial === null,
        exchangeDenial,
      };
    }),
    mode: eligibilityMode(config.exchangeMode),
    supportedExchanges: deps.exchanges.supported,
    now: deps.clock.now(),
  };
}
