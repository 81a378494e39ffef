import { type EligibilityInput, type EligibilityResult, evaluateEligibility } from '#domain/eligibility.ts';
import { eligibilityMode } from '#domain/trading-mode.ts';
import type { Deps } from '#server/deps.ts';
import { listTradingUsers } from '#server/features/settings/settings.store.ts';
import type { SignalRow } from '#server/features/signals/signals.store.ts';
import type { Queryable } from '#server/platform/database/database.ts';
import { exchangeCredentials } from '#server/platform/database/schema.ts';

type SelectDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'exchanges'>;
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
  const users = await listTradingUsers(db);
  const connected = config.exchangeMode === 'paper' ? null : await listConnections(db);
  return {
    signal: {
      processor: signal.processor,
      timeframe: signal.timeframe,
      ownerUserId: signal.ownerUserId,
      audience: signal.fromAdmin ? 'everyone' : 'owner',
    },
    users: users.map((user) => ({
      ...user,
      exchangeReady:
        connected === null || connected.has(connection(user.id, user.settings?.exchangePlatform)),
    })),
    mode: eligibilityMode(config.exchangeMode),
    supportedExchanges: deps.exchanges.supported,
    now: deps.clock.now(),
  };
}

const connection = (userId: string, platform: string | undefined) => `${userId} ${platform}`;

async function listConnections(db: Queryable): Promise<Set<string>> {
  const rows = await db
    .select({ userId: exchangeCredentials.userId, platform: exchangeCredentials.exchangePlatform })
    .from(exchangeCredentials);
  return new Set(rows.map(({ userId, platform }) => connection(userId, platform)));
}
