import { calculatePosition, type Position, type PositionInput } from '#domain/sizing/position.ts';
import { ownTokenRules } from '#domain/sizing/token-rules.ts';

/** Valid input for a position, for tests that change one field. */
export const POSITION_INPUT: PositionInput = {
  signal: { token: 'BTC', action: 'buy', price: '65000' },
  priceLog: { atr: '300', immediateTrend: 'up', matureTrend: 'up' },
  livePrice: '65000',
  settings: {
    positionSizingMethod: 'Risk Management',
    investmentPortion: null,
    maximumRiskPerTrade: '0.05',
    marketType: 'Futures',
    calculationBehavior: 'Futures_Limit_Classic',
  },
  availableBalance: '10000',
  profile: 'manual',
  rules: ownTokenRules('BTC'),
};

export const withSettings = (changes: Partial<PositionInput['settings']>) => ({
  settings: { ...POSITION_INPUT.settings, ...changes },
});

export function calculated(changes: Partial<PositionInput> = {}): Position {
  const result = calculatePosition({ ...POSITION_INPUT, ...changes });
  if (!result.ok) throw new Error(result.denial.reason);
  return result.position;
}
