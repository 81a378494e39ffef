import type { AdminSettingsBody } from '#contract/settings.ts';
import { D } from '#domain/decimal.ts';
import type { SettingsRow } from '../users/user-rows.ts';

/**
 * Whether changes let more of the user's money be traded, or on another account: a higher portion or risk, another
 * exchange, the end of a pause, or another kind of user. Those need a step-up.
 */
export function loosensSettings(
  before: SettingsRow & { isTestUser: boolean },
  changes: AdminSettingsBody,
): boolean {
  const { isTestUser, exchangePlatform, tradingPausedUntil } = changes;
  return (
    isRaised(before.investmentPortion, changes.investmentPortion) ||
    isRaised(before.maximumRiskPerTrade, changes.maximumRiskPerTrade) ||
    (exchangePlatform !== undefined && exchangePlatform !== before.exchangePlatform) ||
    (isTestUser !== undefined && isTestUser !== before.isTestUser) ||
    endsSooner(before.tradingPausedUntil, tradingPausedUntil)
  );
}

/** Null is automatic: how much that is depends on the trade, so a change from or to it counts as raised. */
function isRaised(before: string | null, after: string | null | undefined): boolean {
  if (after === undefined || after === before) return false;
  if (after === null || before === null) return true;
  return D(after).gt(before);
}

function endsSooner(before: Date | null, after: string | null | undefined): boolean {
  if (after === undefined || before === null) return false;
  return after === null || Date.parse(after) < before.getTime();
}
