export interface DemoToken {
  token: string;
  /** USDT at the beginning of the walk. */
  startPrice: number;
  priceDecimals: number;
  /** Standard deviation of a five-minute return. */
  volatility: number;
  /** Typical volume of five minutes, in units of the token. */
  volume: number;
  processor: 'Tesla' | 'UD Bot';
}

const token = (
  name: string,
  processor: DemoToken['processor'],
  figures: [startPrice: number, priceDecimals: number, volatility: number, volume: number],
): DemoToken => {
  const [startPrice, priceDecimals, volatility, volume] = figures;
  return { token: name, processor, startPrice, priceDecimals, volatility, volume };
};

export const DEMO_TOKENS: readonly DemoToken[] = [
  token('BTC', 'Tesla', [65_000, 1, 0.0014, 90]),
  token('ETH', 'Tesla', [3_400, 2, 0.0018, 1_300]),
  token('SOL', 'UD Bot', [150, 3, 0.0025, 26_000]),
  token('TON', 'Tesla', [5.4, 4, 0.0024, 160_000]),
  token('SUI', 'UD Bot', [3.3, 4, 0.003, 310_000]),
  token('XRP', 'Tesla', [0.58, 4, 0.0022, 2_400_000]),
  token('PEPE', 'UD Bot', [0.0000124, 8, 0.0035, 9e10]),
  token('DOGE', 'Tesla', [0.16, 5, 0.0028, 6_800_000]),
  token('ADA', 'UD Bot', [0.45, 4, 0.0022, 3_900_000]),
];
