import { D, roundToTick, toPlain } from '#domain/decimal.ts';
import type { TradingSettings } from '#domain/user-settings.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import type { SuiteDialect } from '#test/venues/exchange-suite-words.ts';
import { type Choice, createChoice } from './choice.ts';

/** The part of a run that depends only on seed and exchange, not the fault, so it equals the control run. */
export interface Scenario {
  token: string;
  action: 'buy' | 'sell';
  price: string;
  candle: { price: string; atr: string; matureTrend: string };
  /** In trading order. */
  users: ScenarioUser[];
  /** The index of the user with the fault. */
  struck: number;
  moves: PriceMove[];
  /** Milliseconds until a signal in the opposite direction; null: none follows. */
  oppositeAfterMs: number | null;
}

export interface ScenarioUser {
  settings: Partial<TradingSettings>;
  /** Leverage and margin mode are set as after an earlier order of this direction. */
  tradedBefore: boolean;
}

export interface PriceMove {
  /** A time after the signal, or just before the first order of this user's wave reaches the exchange. */
  when: { afterMs: number } | { orderOf: number };
  price: string;
}

const PRICES: Record<string, number> = {
  BTC: 65_000,
  ETH: 3_200,
  SOL: 150,
  TON: 5.4,
  SUI: 3.1,
  XRP: 2.2,
  PEPE: 0.0000112,
  // A token with the exchange's generic contract.
  NEAR: 6.7,
};

/** Traded in place of a token that an exchange does not list: without a position a run proves nothing. */
const NOT_LISTED: Partial<Record<SuiteDialect, Record<string, string>>> = { Bybit: { PEPE: 'XRP' } };

export function createScenario(seed: number, exchange: SuiteDialect): Scenario {
  const choice = createChoice(`scenario ${seed}`);
  const drawn = choice.oneOf(Object.keys(PRICES));
  const token = NOT_LISTED[exchange]?.[drawn] ?? drawn;
  const base = (PRICES[token] ?? 1) * choice.between(0.8, 1.2);
  const at = priceAt(token, base);
  const action = choice.oneOf(['buy', 'sell'] as const);
  const users = Array.from({ length: choice.integer(3, 5) }, (_, index) => userOf(choice, index));
  const struck = choice.integer(0, users.length - 1);
  const others = users.flatMap((_, index) => (index === struck ? [] : [index]));
  // A price moving away from the limit makes the order rest.
  const against = action === 'buy' ? 1 : -1;
  const moves: PriceMove[] = [];
  if (choice.chance(0.4)) {
    const direction = choice.chance(0.7) ? against : -against;
    const factor = 1 + direction * choice.between(0.0007, 0.004);
    // Not the struck user, whose order may never come: the prices of others must not depend on it.
    moves.push({ when: { orderOf: choice.oneOf(others) }, price: at(factor) });
  }
  for (let count = choice.integer(0, 3); count > 0; count -= 1) {
    // The odd 137 ms keeps moves away from the exact end of a wait.
    const afterMs = choice.integer(1, 40) * 500 + 137;
    moves.push({ when: { afterMs }, price: at(1 + choice.between(-0.006, 0.006)) });
  }
  if (choice.chance(0.2)) {
    // Beyond every stop or every target.
    const factor = choice.chance(0.5) ? 0.88 : 1.12;
    moves.push({ when: { afterMs: choice.integer(90, 140) * 500 + 137 }, price: at(factor) });
  }
  return {
    token,
    action,
    price: at(1),
    candle: {
      price: at(1),
      atr: at(choice.between(0.004, 0.02)),
      matureTrend: choice.oneOf(['bullish', 'bearish']),
    },
    users,
    struck,
    moves,
    oppositeAfterMs: choice.chance(0.35) ? choice.integer(200, 260) * 500 + 137 : null,
  };
}

function userOf(choice: Choice, index: number): ScenarioUser {
  const settings: Partial<TradingSettings> = {
    positionSizingMethod: choice.oneOf(['Risk Management', 'Portfolio Allocation', 'Technical Analysis']),
    investmentPortion: choice.oneOf(['0.05', '0.10', '0.20']),
    maximumRiskPerTrade: choice.oneOf(['0.02', '0.05', '0.10']),
    tradeOrderSet: String.fromCharCode('A'.charCodeAt(0) + index),
    oppositeSignal: choice.oneOf(['reverse', 'skip'] as const),
  };
  return { settings, tradedBefore: choice.chance(0.6) };
}

function priceAt(token: string, base: number): (factor: number) => string {
  const { tickSize } = paperContract(token);
  return (factor) => toPlain(roundToTick(D(base * factor), tickSize, 'down'));
}
