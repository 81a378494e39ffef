import type { EligibilityResult } from '#domain/eligibility/eligibility.ts';
import { eligibilityMode } from '#domain/eligibility/trading-mode.ts';
import { type ExitInput, type ExitUser, selectExits } from '#domain/exits/select-exits.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import { DEFAULT_USER_SETTINGS } from '#domain/user-settings.ts';
import { listTradingUsers } from '#server/admin/settings/settings.store.ts';
import type { Deps } from '#server/deps.ts';
import { listOpenTradesIn } from '#server/engine/protection/positions.store.ts';
import { readExit } from '#server/ingest/read-delivery.ts';
import { isEntry, type SignalRow } from '#server/ingest/stored-signals.ts';
import { type SelectDeps, selectUsers } from './select-users.ts';

type ExitDeps = Pick<Deps, 'db' | 'config'>;

/**
 * The facts of the decision on a signal that leaves: every user, with the positions in its token that we opened.
 * `userIds`: only these users.
 */
export async function readExitInput(
  { db, config }: ExitDeps,
  signal: SignalRow,
  { userIds }: { userIds?: readonly string[] } = {},
): Promise<{ users: ExitUser[]; input: ExitInput }> {
  const { token, processor, receivedAt, ownerUserId, fromAdmin } = signal;
  const [users, trades] = await Promise.all([
    listTradingUsers(db, { userIds }),
    listOpenTradesIn(db, { token, mode: config.exchangeMode, userIds }),
  ]);
  const ofUser = Map.groupBy(trades, ({ userId }) => userId);
  return {
    users: users.map(({ id, username, isActive, isTestUser, settings }) => ({
      id,
      username,
      isActive,
      isTestUser,
      settings: settings && {
        activeTrading: settings.activeTrading,
        tradeOrderSet: settings.tradeOrderSet,
      },
      positions: (ofUser.get(id) ?? []).map(({ userId: _, side, ...trade }) => ({
        ...trade,
        side: sideOpenedBy(side),
      })),
    })),
    input: {
      signal: {
        token,
        processor,
        receivedAt,
        ownerUserId,
        audience: fromAdmin ? 'everyone' : 'owner',
        exit: readExit(signal) ?? { side: null, percent: null },
      },
      scope: config.exitScope,
    },
  };
}

/** Who holds a position that the signal closes, as the result of a selection. */
export async function selectUsersToLeave(deps: ExitDeps, signal: SignalRow) {
  const { users, input } = await readExitInput(deps, signal);
  const { decisions, eligible } = selectExits(users, input);
  const past = (layer: number) => decisions.filter((one) => one.layer === null || one.layer > layer).length;
  const result: EligibilityResult = {
    currentMode: eligibilityMode(deps.config.exchangeMode),
    processor: signal.processor,
    layers: [
      { name: 'Users whom the signal concerns', count: past(1) },
      { name: 'Open position of the strategy, older than the signal', count: past(2) },
      { name: 'Closing has no further criteria', count: past(2) },
      { name: 'Final eligible users', count: eligible.length },
    ],
    eligible: eligible.map(({ id, username, isTestUser, settings }) => ({
      id,
      username,
      isTestUser,
      tradeOrderSet: settings?.tradeOrderSet ?? DEFAULT_USER_SETTINGS.tradeOrderSet,
    })),
    decisions,
  };
  return { users, input, result };
}

/** Who trades a signal, or holds a position that it closes, as decided now. */
export async function selectUsersOf(deps: SelectDeps, signal: SignalRow): Promise<EligibilityResult> {
  return isEntry(signal) ? await selectUsers(deps, signal) : (await selectUsersToLeave(deps, signal)).result;
}
