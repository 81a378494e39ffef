import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculated, POSITION_INPUT, withSettings } from '#test/app/position-input.ts';
import { D, isMultipleOf, toPlain } from '../decimal.ts';
import { SIZING_METHODS } from '../user-settings.ts';
import { calculatePosition, type PositionInput } from './position.ts';
import { planPosition } from './position-plan.ts';
import { ownTokenRules } from './token-rules.ts';

type Row = [
  token: string,
  action: 'buy' | 'sell',
  profile: 'manual' | 'automatic',
  method: (typeof SIZING_METHODS)[number],
  aligned: boolean,
  price: string,
  atr: string,
  entryPrice: string,
  stopLoss: string,
  takeProfit: string,
  leverage: number,
  assetQuantity: string,
  quantity: string,
  investment: string,
  riskPercentage: string,
  investmentPortion: string,
];

/**
 * Computed independently of this program, with exact fractions, from the specified formulas: balance 25000; portion
 * 0.15 and risk 0.02 for Portfolio Allocation, portion 0.2 and risk 0.05 for the others.
 */
// biome-ignore format: one case a line reads as a table
const HAND_COMPUTED: Row[] = [
  ['BTC', 'buy', 'manual', 'Risk Management', true, '97313.7', '412.35', '97316.2', '96695.2', '98550.7', 10, '0.84', '81745.608', '8174.5608', '0.0208656', '0.326982432'],
  ['BTC', 'sell', 'manual', 'Risk Management', false, '97313.7', '412.35', '97311.2', '98138.4', '95664.3', 5, '0.42', '40870.704', '8174.1408', '0.01389696', '0.326965632'],
  ['BTC', 'sell', 'manual', 'Portfolio Allocation', true, '97313.7', '412.35', '97311.2', '97932.2', '96076.7', 10, '0.38', '36978.256', '3697.8256', '0.0094392', '0.147913024'],
  ['BTC', 'buy', 'automatic', 'Portfolio Allocation', false, '97313.7', '412.35', '97323.5', '96489', '98963.1', 5, '0.19', '18491.465', '3698.293', '0.0063422', '0.14793172'],
  ['BTC', 'buy', 'automatic', 'Technical Analysis', true, '97313.7', '412.35', '97323.5', '96353', '98754.8', 10, '0.51', '49634.985', '4963.4985', '0.0197982', '0.19853994'],
  ['BTC', 'sell', 'automatic', 'Technical Analysis', false, '97313.7', '412.35', '97303.9', '98385.8', '96027.2', 5, '0.25', '24325.975', '4865.195', '0.010819', '0.1946078'],
  ['ETH', 'sell', 'manual', 'Risk Management', true, '3187.26', '21.847', '3185.76', '3220.03', '3121.72', 10, '25.89', '82479.3264', '8247.93264', '0.035490012', '0.3299173056'],
  ['ETH', 'buy', 'manual', 'Risk Management', false, '3187.26', '21.847', '3188.76', '3143.57', '3274.64', 5, '12.93', '41230.6668', '8246.13336', '0.023372268', '0.3298453344'],
  ['ETH', 'buy', 'manual', 'Portfolio Allocation', true, '3187.26', '21.847', '3188.76', '3154.49', '3252.8', 10, '11.76', '37499.8176', '3749.98176', '0.016120608', '0.1499992704'],
  ['ETH', 'sell', 'automatic', 'Portfolio Allocation', false, '3187.26', '21.847', '3186.3', '3230.95', '3099.88', 5, '5.88', '18735.444', '3747.0888', '0.01050168', '0.149883552'],
  ['ETH', 'sell', 'automatic', 'Technical Analysis', true, '3187.26', '21.847', '3186.3', '3238.16', '3110.91', 10, '15.69', '49993.047', '4999.3047', '0.032547336', '0.199972188'],
  ['ETH', 'buy', 'automatic', 'Technical Analysis', false, '3187.26', '21.847', '3188.22', '3130.46', '3255.42', 5, '7.84', '24995.6448', '4999.12896', '0.018113536', '0.1999651584'],
  ['SOL', 'buy', 'manual', 'Risk Management', true, '187.413', '2.3391', '188.351', '183.905', '194.43', 10, '281.1', '52945.4661', '5294.54661', '0.049990824', '0.2117818644'],
  ['SOL', 'sell', 'manual', 'Risk Management', false, '187.413', '2.3391', '186.475', '192.091', '178.057', 5, '221.2', '41248.27', '8249.654', '0.049690368', '0.32998616'],
  ['SOL', 'sell', 'manual', 'Portfolio Allocation', true, '187.413', '2.3391', '186.475', '190.921', '180.396', 10, '112.4', '20959.79', '2095.979', '0.019989216', '0.08383916'],
  ['SOL', 'buy', 'automatic', 'Portfolio Allocation', false, '187.413', '2.3391', '187.488', '182.735', '196.769', 5, '100', '18748.8', '3749.76', '0.019012', '0.1499904'],
  ['SOL', 'buy', 'automatic', 'Technical Analysis', true, '187.413', '2.3391', '187.488', '181.963', '195.588', 10, '266.6', '49984.3008', '4998.43008', '0.0589186', '0.1999372032'],
  ['SOL', 'sell', 'automatic', 'Technical Analysis', false, '187.413', '2.3391', '187.338', '193.494', '180.116', 5, '133.4', '24990.8892', '4998.17784', '0.032848416', '0.1999271136'],
  ['TON', 'sell', 'manual', 'Risk Management', true, '5.4137', '0.08123', '5.3866', '5.5355', '5.1701', 10, '8394.8', '45219.42968', '4521.942968', '0.0499994288', '0.18087771872'],
  ['TON', 'buy', 'manual', 'Risk Management', false, '5.4137', '0.08123', '5.4408', '5.2513', '5.7386', 5, '6596.3', '35889.14904', '7177.829808', '0.049999954', '0.28711319232'],
  ['TON', 'buy', 'manual', 'Portfolio Allocation', true, '5.4137', '0.08123', '5.4408', '5.2919', '5.6573', 10, '3357.9', '18269.66232', '1826.966232', '0.0199996524', '0.07307864928'],
  ['TON', 'sell', 'automatic', 'Portfolio Allocation', false, '5.4137', '0.08123', '5.4109', '5.5761', '5.0888', 5, '3026.6', '16376.62994', '3275.325988', '0.0199997728', '0.13101303952'],
  ['TON', 'sell', 'automatic', 'Technical Analysis', true, '5.4137', '0.08123', '5.4109', '5.6029', '5.1299', 10, '9240.6', '49999.96254', '4999.996254', '0.070967808', '0.19999985016'],
  ['TON', 'buy', 'automatic', 'Technical Analysis', false, '5.4137', '0.08123', '5.4165', '5.2026', '5.6671', 5, '4615.5', '24999.85575', '4999.97115', '0.039490218', '0.199998846'],
  ['SUI', 'buy', 'manual', 'Risk Management', true, '3.6628', '0.07719', '3.6812', '3.5471', '3.8943', 10, '9321.4', '34313.93768', '3431.393768', '0.0499999896', '0.13725575072'],
  ['SUI', 'sell', 'manual', 'Risk Management', false, '3.6628', '0.07719', '3.6444', '3.8171', '3.3541', 5, '7237.9', '26377.80276', '5275.560552', '0.0499994132', '0.21102242208'],
  ['SUI', 'sell', 'manual', 'Portfolio Allocation', true, '3.6628', '0.07719', '3.6444', '3.7785', '3.4313', 10, '3728.5', '13588.1454', '1358.81454', '0.019999674', '0.0543525816'],
  ['SUI', 'buy', 'automatic', 'Portfolio Allocation', false, '3.6628', '0.07719', '3.6647', '3.5085', '3.9715', 5, '3201', '11730.7047', '2346.14094', '0.019999848', '0.0938456376'],
  ['SUI', 'buy', 'automatic', 'Technical Analysis', true, '3.6628', '0.07719', '3.6647', '3.483', '3.9325', 10, '13643.6', '49999.70092', '4999.970092', '0.0991616848', '0.19999880368'],
  ['SUI', 'sell', 'automatic', 'Technical Analysis', false, '3.6628', '0.07719', '3.6609', '3.8634', '3.422', 5, '6828.9', '24999.92001', '4999.984002', '0.05531409', '0.19999936008'],
  ['XRP', 'sell', 'manual', 'Risk Management', true, '2.2971', '0.03337', '2.2856', '2.3471', '2.197', 10, '20325', '46454.82', '4645.482', '0.0499995', '0.18581928'],
  ['XRP', 'buy', 'manual', 'Risk Management', false, '2.2971', '0.03337', '2.3086', '2.2304', '2.4305', 5, '15984', '36900.6624', '7380.13248', '0.049997952', '0.2952052992'],
  ['XRP', 'buy', 'manual', 'Portfolio Allocation', true, '2.2971', '0.03337', '2.3086', '2.2471', '2.3972', 10, '8130', '18768.918', '1876.8918', '0.0199998', '0.075075672'],
  ['XRP', 'sell', 'automatic', 'Portfolio Allocation', false, '2.2971', '0.03337', '2.2957', '2.3638', '2.1637', 5, '7342', '16855.0294', '3371.00588', '0.019999608', '0.1348402352'],
  ['XRP', 'sell', 'automatic', 'Technical Analysis', true, '2.2971', '0.03337', '2.2957', '2.3748', '2.1805', 10, '21779', '49998.0503', '4999.80503', '0.068908756', '0.1999922012'],
  ['XRP', 'buy', 'automatic', 'Technical Analysis', false, '2.2971', '0.03337', '2.2985', '2.2104', '2.4012', 5, '10876', '24998.486', '4999.6972', '0.038327024', '0.199987888'],
  ['PEPE', 'buy', 'manual', 'Risk Management', true, '0.00001187', '0.00000023', '0.00001193', '0.00001153', '0.00001256', 10, '3125000000', '37281.25', '3728.125', '0.05', '0.149125'],
  ['PEPE', 'sell', 'manual', 'Risk Management', false, '0.00001187', '0.00000023', '0.00001181', '0.00001233', '0.00001095', 5, '2403846153', '28389.42306693', '5677.884613386', '0.049999999982', '0.227115384535'],
  ['PEPE', 'sell', 'manual', 'Portfolio Allocation', true, '0.00001187', '0.00000023', '0.00001181', '0.00001221', '0.00001118', 10, '1250000000', '14762.5', '1476.25', '0.02', '0.05905'],
  ['PEPE', 'buy', 'automatic', 'Portfolio Allocation', false, '0.00001187', '0.00000023', '0.00001188', '0.00001141', '0.00001279', 5, '1063829787', '12638.29786956', '2527.659573912', '0.019999999995', '0.101106382956'],
  ['PEPE', 'buy', 'automatic', 'Technical Analysis', true, '0.00001187', '0.00000023', '0.00001188', '0.00001134', '0.00001267', 10, '4208754208', '49999.99999104', '4999.999999104', '0.090909090892', '0.199999999964'],
  ['PEPE', 'sell', 'automatic', 'Technical Analysis', false, '0.00001187', '0.00000023', '0.00001186', '0.00001246', '0.00001116', 5, '2107925801', '24999.99999986', '4999.999999972', '0.050590219224', '0.199999999998'],
];

const BASE: PositionInput = {
  ...POSITION_INPUT,
  signal: { token: 'BTC', action: 'buy', price: '100000' },
  priceLog: { atr: '500', immediateTrend: 'up', matureTrend: 'up' },
  livePrice: '100000',
};
const withAtr = (atr: string) => ({ priceLog: { atr, immediateTrend: 'up', matureTrend: 'up' } });
const positionOf = (changes: Partial<PositionInput>) => calculated({ ...BASE, ...changes });

function denialOf(changes: Partial<PositionInput>) {
  const result = calculatePosition({ ...BASE, ...changes });
  if (result.ok) throw new Error('expected a denial');
  return result.denial;
}

describe('position parameters match the hand-computed table', () => {
  // Requirements: position-sizing-1
  it.each(HAND_COMPUTED)(
    '%s %s, %s profile, %s, aligned %s',
    (token, action, profile, method, aligned, price, atr, entryPrice, stopLoss, takeProfit, leverage, ...size) => {
      const [assetQuantity, quantity, investment, riskPercentage, investmentPortion] = size;
      const isPortfolio = method === 'Portfolio Allocation';
      const position = positionOf({
        signal: { token, action, price },
        priceLog: { atr, immediateTrend: null, matureTrend: aligned === (action === 'buy') ? 'up' : 'down' },
        livePrice: price,
        ...withSettings({
          positionSizingMethod: method,
          investmentPortion: isPortfolio ? '0.15' : '0.2',
          maximumRiskPerTrade: isPortfolio ? '0.02' : '0.05',
        }),
        availableBalance: '25000',
        profile,
        rules: ownTokenRules(token),
      });
      expect(position).toMatchObject({
        position: action === 'buy' ? 'long' : 'short',
        referencePrice: price,
        priceSource: 'signal',
        aligned,
        atr,
        entryPrice,
        stopLoss,
        takeProfit,
        leverage,
        assetQuantity,
        quantity,
        investment,
        riskPercentage,
        investmentPortion,
      });
    },
  );

  // Requirements: position-sizing-1
  it('covers seven tokens, three methods and both alignments', () => {
    const cases = new Set(
      HAND_COMPUTED.map(([token, , , method, aligned]) => `${token}/${method}/${aligned}`),
    );
    expect(cases.size).toBe(7 * 3 * 2);
  });
});

describe('position parameters', () => {
  it('puts the stop 2% away and counts the trend as opposed without a candle', () => {
    const position = positionOf({ priceLog: null });
    expect(position).toMatchObject({ stopLoss: '98000', takeProfit: '104000', leverage: 5, atr: null });
    expect(position.hyperparameters).toMatchObject({ atrMultiplier: null, defaultStopLoss: '0.02' });
  });

  it.each(['0', '-3', 'NaN', '', 'Infinity'])('treats an ATR of %j as absent', (atr) => {
    expect(positionOf(withAtr(atr))).toMatchObject({ atr: null, stopLoss: '98000', leverage: 10 });
  });

  it('replaces the signal price by a live price more than 1% away', () => {
    const [near, far] = ['101000', '101000.1'].map((livePrice) => positionOf({ livePrice }));
    expect(near).toMatchObject({ referencePrice: '100000', priceSource: 'signal' });
    expect(far).toMatchObject({ referencePrice: '101000.1', priceSource: 'live' });
  });

  it('falls back on the signal price in the calculator and says so', () => {
    const position = positionOf({ livePrice: null });
    expect(position.priceSource).toBe('signal');
    expect(position.calculationReason).toContain('no live price was available, so the signal price is used');
  });

  it('mentions a balance that was not just read in reason and detail', () => {
    const position = positionOf({ balanceNote: 'the balance is 20 s old' });
    expect(position.calculationReason).toMatch(/; the balance is 20 s old\.$/);
    expect(position.calculationDetail).toMatch(/Available balance B = \d+ USDT: the balance is 20 s old\n/);
  });

  // Requirements: trading-calculator-and-execution-17
  it('caps the risk of Technical Analysis at 15% of the balance', () => {
    const position = positionOf({
      ...withAtr('3000'),
      ...withSettings({ positionSizingMethod: 'Technical Analysis', investmentPortion: '0.33' }),
    });
    // 1500 / |100002.5 - 93010| = 0.2145…, on the step of 0.01
    expect(position).toMatchObject({ entryPrice: '100002.5', stopLoss: '93010', assetQuantity: '0.21' });
  });

  // Requirements: trading-constants-11
  it('sizes null portions and risks as their defaults', () => {
    const auto = (positionSizingMethod: string) =>
      positionOf(withSettings({ positionSizingMethod, maximumRiskPerTrade: null })).hyperparameters;
    expect(auto('Portfolio Allocation')).toMatchObject({ portionLimit: '0.10', riskLimit: '0.05' });
    expect(auto('Technical Analysis')).toMatchObject({ portionLimit: '0.05', riskLimit: '0.15' });
  });

  it('gives the reason in one sentence, and every figure and the fees in the detail', () => {
    const position = positionOf({});
    expect(position.calculationReason).toMatch(/^[^\n]+\.$/);
    const { referencePrice, entryPrice, stopLoss, takeProfit, epsilon, availableBalance } = position;
    const { assetQuantity, quantity, investment } = position;
    const texts = [referencePrice, entryPrice, stopLoss, takeProfit, epsilon, availableBalance];
    texts.push(assetQuantity, quantity, investment, 'ATR 500.00 × 1.5 = 750.0000', 'about 0.12%');
    for (const text of texts) expect(position.calculationDetail).toContain(text);
  });
});

describe('a position is refused', () => {
  const smallPortion = withSettings({
    positionSizingMethod: 'Portfolio Allocation',
    investmentPortion: '0.02',
  });

  // Requirements: position-sizing-5
  it.each<[string, Partial<PositionInput>]>([
    [
      'ATR is required for Technical Analysis',
      { priceLog: null, ...withSettings({ positionSizingMethod: 'Technical Analysis' }) },
    ],
    ['Position sizing method Scalping is not available', withSettings({ positionSizingMethod: 'Scalping' })],
    ['Market type Spot is not available, only Futures is traded', withSettings({ marketType: 'Spot' })],
    [
      'Maximum risk per trade 0.2 is not above 0 and at most 0.15',
      withSettings({ maximumRiskPerTrade: '0.2' }),
    ],
    ['Balance information unavailable', { availableBalance: '-5' }],
    ['Balance information unavailable', { availableBalance: 'NaN' }],
    ['Signal price must be above zero but is 0', { signal: { ...BASE.signal, price: '0' } }],
    ['Stop loss must be above zero but is -5000', withAtr('70000')],
    ['Take profit would trigger at once: 100001.5 is not above the price 100002.5', withAtr('0.5')],
    [
      'BTC allows a leverage of at most 5, the position needs 10',
      { rules: { ...ownTokenRules('BTC'), maximumLeverage: 5 } },
    ],
  ])('because: %s', (reason, changes) => {
    expect(denialOf(changes).reason).toBe(reason);
  });

  // Requirements: position-sizing-5
  it('for a stop loss beyond the liquidation distance', () => {
    // 10 × 8% = 0.8 of the margin
    expect(denialOf(withAtr('5400')).reason).toContain('Stop loss lies beyond the liquidation distance');
  });

  it('for a stop that rounds onto the price', () => {
    const rules = { ...ownTokenRules('BTC'), tickSize: '1000' };
    expect(denialOf({ rules, ...withAtr('1') }).reason).toContain('Stop loss would trigger at once');
  });

  // Requirements: position-sizing-5
  it('for an entry that our tick moves away from the price by more than the contract’s would', () => {
    const rules = { ...POSITION_INPUT.rules, tickSize: '100', contractTickSize: '0.1' };
    expect(planPosition({ ...POSITION_INPUT, rules })).toMatchObject({
      ok: false,
      denial: { code: 'entry_rounded_away', context: { entryPrice: '65100', price: '65000', limit: '2.6' } },
    });
  });

  it('when 33% of the balance is below the minimum order, naming the limit and the balance', () => {
    const { code, reason } = denialOf({ availableBalance: '200' });
    expect(code).toBe('minimum_exceeds_limit');
    expect(reason).toContain('33% limit');
    expect(reason).toContain('the available balance is 200 USDT');
  });

  it('for a balance of zero', () => {
    expect(denialOf({ availableBalance: '0' }).code).toBe('minimum_exceeds_limit');
  });

  it('for a portion below the minimum order, although the balance could pay it', () => {
    const { code, reason } = denialOf({ ...smallPortion, availableBalance: '400' });
    expect(code).toBe('below_minimum_quantity');
    expect(reason).toBe('Quantity 0 BTC is below the minimum size of 0.01 BTC');
  });

  // Requirements: position-sizing-5
  it('for an order below the minimum notional', () => {
    const denial = denialOf({
      signal: { token: 'XRP', action: 'buy', price: '2' },
      livePrice: '2',
      rules: ownTokenRules('XRP'),
      ...smallPortion,
      ...withAtr('0.02'),
      availableBalance: '21',
    });
    expect(denial.reason).toBe('Order value 4.02 USDT is below the minimum notional of 5 USDT');
  });

  it('in a workflow without a live price, or with a signal more than 10% off', () => {
    const automatic = { profile: 'automatic' } as const;
    expect(denialOf({ ...automatic, livePrice: null }).code).toBe('live_price_unavailable');
    expect(denialOf({ ...automatic, livePrice: '0' }).code).toBe('live_price_unavailable');
    expect(denialOf({ ...automatic, livePrice: '110000.1' }).reason).toMatch(/^Signal validation failed: /);
    expect(positionOf({ ...automatic, livePrice: '110000' }).priceSource).toBe('live');
  });

  it('by throwing for rules of another token', () => {
    expect(() => calculatePosition({ ...BASE, rules: ownTokenRules('ETH') })).toThrow(RangeError);
  });
});

const scaled = (from: number, to: number, decimals: number) =>
  fc.integer({ min: from, max: to }).map((n) =>
    D(n)
      .div(10 ** decimals)
      .toFixed(),
  );

const anyInput: fc.Arbitrary<PositionInput> = fc
  .record({
    token: fc.constantFrom('BTC', 'ETH', 'SOL', 'TON', 'SUI', 'XRP', 'PEPE', 'DOGE'),
    action: fc.constantFrom('buy' as const, 'sell' as const),
    mantissa: fc.integer({ min: 1, max: 999_999 }),
    magnitude: fc.oneof(
      { arbitrary: fc.integer({ min: -2, max: 0 }), weight: 4 },
      fc.integer({ min: -8, max: 2 }),
    ),
    atrFraction: fc.option(fc.oneof({ arbitrary: scaled(40, 400, 4), weight: 3 }, scaled(1, 3_000, 4))),
    immediateTrend: fc.constantFrom('up', 'down', 'flat', null, 0.4, -0.8),
    matureTrend: fc.constantFrom('up', 'down', 'flat', null, 1, -1),
    drift: fc.oneof({ arbitrary: scaled(9_900, 10_100, 4), weight: 2 }, scaled(8_900, 11_100, 4)),
    balance: scaled(0, 100_000_000, 2),
    method: fc.constantFrom(...SIZING_METHODS),
    portion: fc.option(scaled(1, 3_300, 4)),
    risk: fc.option(scaled(1, 1_500, 4)),
    profile: fc.constantFrom('manual' as const, 'automatic' as const),
  })
  .map(({ token, action, mantissa, magnitude, atrFraction, drift, ...rest }) => {
    const price = D(mantissa).times(D(10).pow(magnitude));
    return {
      signal: { token, action, price: price.toFixed() },
      priceLog: {
        atr: atrFraction === null ? null : price.times(atrFraction).toFixed(),
        immediateTrend: rest.immediateTrend,
        matureTrend: rest.matureTrend,
      },
      livePrice: price.times(drift).toFixed(),
      ...withSettings({
        positionSizingMethod: rest.method,
        investmentPortion: rest.portion,
        maximumRiskPerTrade: rest.risk,
      }),
      availableBalance: rest.balance,
      profile: rest.profile,
      rules: ownTokenRules(token),
    };
  });

describe('for any input', () => {
  /** Runs the property on calculated positions, and requires that enough inputs give one. */
  function everyPosition(check: (input: PositionInput, position: ReturnType<typeof positionOf>) => void) {
    let calculated = 0;
    fc.assert(
      fc.property(anyInput, (input) => {
        const result = calculatePosition(input);
        if (!result.ok) return;
        calculated += 1;
        check(input, result.position);
      }),
      { numRuns: 1_000 },
    );
    expect(calculated).toBeGreaterThan(200);
  }

  // Requirements: trading-calculator-and-execution-16, trading-constants-10, position-sizing-3
  it('the investment stays within 33% of the balance and the portion of the method', () => {
    everyPosition(({ settings, availableBalance }, { method, investment }) => {
      expect(D(investment).lte(D(availableBalance).times('0.33'))).toBe(true);
      if (method === 'Risk Management') return;
      const portion = settings.investmentPortion ?? (method === 'Technical Analysis' ? '0.05' : '0.10');
      expect(D(investment).lte(D(availableBalance).times(portion))).toBe(true);
    });
  });

  // Requirements: trading-constants-10, position-sizing-3
  it('the loss at the stop stays within the risk limit of the method', () => {
    everyPosition(({ settings, availableBalance }, { method, assetQuantity, entryPrice, stopLoss }) => {
      const loss = D(assetQuantity).times(D(entryPrice).minus(stopLoss).abs());
      const limit = method === 'Technical Analysis' ? '0.15' : (settings.maximumRiskPerTrade ?? '0.05');
      expect(loss.lte(D(availableBalance).times(limit))).toBe(true);
    });
  });

  // Requirements: position-sizing-3
  it('one step more would break a limit', () => {
    everyPosition(({ settings, availableBalance, rules }, position) => {
      const { method, entryPrice, stopLoss, leverage } = position;
      const more = D(position.assetQuantity).plus(rules.quantityStep);
      const portion =
        method === 'Risk Management'
          ? '0.33'
          : (settings.investmentPortion ?? (method === 'Technical Analysis' ? '0.05' : '0.10'));
      const risk = method === 'Technical Analysis' ? '0.15' : (settings.maximumRiskPerTrade ?? '0.05');
      const investsMore = more.times(entryPrice).gt(D(availableBalance).times(portion).times(leverage));
      const losesMore = more.times(D(entryPrice).minus(stopLoss).abs()).gt(D(availableBalance).times(risk));
      expect(investsMore || losesMore).toBe(true);
    });
  });

  // Requirements: position-sizing-3
  it('a long has its stop below and its target above price and entry, a short the reverse', () => {
    everyPosition((_input, { action, stopLoss, takeProfit, referencePrice, entryPrice }) => {
      const [low, high] = action === 'buy' ? [stopLoss, takeProfit] : [takeProfit, stopLoss];
      for (const price of [referencePrice, entryPrice]) {
        expect(D(low).gt(0) && D(low).lt(price) && D(price).lt(high)).toBe(true);
      }
    });
  });

  // Requirements: trading-constants-14, position-sizing-3
  it('prices lie on the tick, the quantity on the step and above both minima', () => {
    everyPosition(({ rules }, position) => {
      for (const price of [position.entryPrice, position.stopLoss, position.takeProfit]) {
        expect(isMultipleOf(price, rules.tickSize)).toBe(true);
      }
      expect(isMultipleOf(position.assetQuantity, rules.quantityStep)).toBe(true);
      expect(D(position.assetQuantity).gte(rules.minimumQuantity)).toBe(true);
      expect(D(position.quantity).gte(rules.minimumNotional)).toBe(true);
    });
  });

  it('a refusal before sizing holds for any balance, and any other needs too small a balance', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const planned = planPosition(input);
        const [own, ample] = [input, { ...input, availableBalance: '1e30' }].map(calculatePosition);
        if (!planned.ok) {
          for (const result of [own, ample]) expect(result).toEqual(planned);
          return;
        }
        expect(ample?.ok).toBe(true);
        const tooSmall = ['below_minimum_quantity', 'below_minimum_notional', 'minimum_exceeds_limit'];
        if (own?.ok === false) expect(tooSmall).toContain(own.denial.code);
      }),
      { numRuns: 1_000 },
    );
  });

  it('no figure is NaN, infinite, negative or written with an exponent', () => {
    everyPosition((_input, position) => {
      for (const key of [
        'referencePrice',
        'entryPrice',
        'stopLoss',
        'takeProfit',
        'epsilon',
        'assetQuantity',
        'quantity',
        'investment',
        'investmentPortion',
        'riskPercentage',
        'distanceFraction',
        'availableBalance',
      ] as const) {
        expect(position[key]).toMatch(/^\d+(\.\d+)?$/);
      }
      expect(position.calculationDetail).not.toMatch(/NaN|Infinity|undefined|null/);
    });
  });

  // Requirements: price-log-and-trend-2
  it('a candle’s figures of any size and type give a calculation or a refusal', () => {
    const figure = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(anyInput, figure, figure, figure, (input, atr, immediateTrend, matureTrend) => {
        const text = typeof atr === 'number' ? toPlain(atr) : atr;
        const priceLog = { atr: typeof text === 'string' ? text : null, immediateTrend, matureTrend };
        expect(() => calculatePosition({ ...input, priceLog })).not.toThrow();
      }),
      { numRuns: 1_000 },
    );
  });
});
