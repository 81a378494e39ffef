import { alignment, leverageFor } from '#domain/sizing/trend.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { paperAccounts, paperTokenSettings } from '#server/exchanges/paper/paper-schema.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import type { TestEngine } from '../app/test-engine.ts';
import type { Scenario } from './scenario.ts';

/** Not what any order here is for. */
const OTHER_LEVERAGE = 3;

/** The accounts of users who have traded before, as an earlier order left them. */
export async function openAccounts(
  engine: TestEngine,
  run: { exchange: ExchangePlatform; scenario: Scenario; userIds: string[]; faults: VenueFault[] },
): Promise<void> {
  const { exchange: platform, scenario, userIds, faults } = run;
  const { token, action, candle, struck, users } = scenario;
  const { matureTrend } = candle;
  const { aligned } = alignment({ action, immediateTrend: null, matureTrend });
  // Whose leverage is not to be set must have it still to be set.
  const strikesLeverage = faults.some(({ kind }) => kind.startsWith('leverage'));
  for (const [index, userId] of userIds.entries()) {
    const mustBeSet = index === struck && strikesLeverage;
    if (!users[index]?.tradedBefore && !mustBeSet) continue;
    await engine.db.insert(paperAccounts).values({
      userId,
      platform,
      balance: engine.deps.config.paperBalance,
      positionMode: 'one_way_mode',
      marginMode: platform === 'Bybit' ? 'isolated' : null,
      openedAt: engine.clock.now(),
    });
    await engine.db.insert(paperTokenSettings).values({
      userId,
      platform,
      token,
      leverage: mustBeSet ? OTHER_LEVERAGE : leverageFor(aligned),
      marginMode: 'isolated',
    });
  }
}
