export interface DemoToken {
  token: string;
  processor: 'Tesla' | 'UD Bot';
  /** Start of the random walk, in USDT. */
  startPrice: number;
  priceDecimals: number;
  /** Standard deviation of a five-minute return. */
  volatility: number;
  /** Typical volume of five minutes, in units of the token. */
  volume: number;
}

type Row = [DemoToken['token'], DemoToken['processor'], ...figures: [number, number, number, number]];

const ROWS: Row[] = [
  ['BTC', 'Tesla', 65_000, 1, 0.0014, 90],
  ['ETH', 'Tesla', 3_400, 2, 0.0018, 1_300],
  ['SOL', 'UD Bot', 150, 3, 0.0025, 26_000],
  ['TON', 'Tesla', 5.4, 4, 0.0024, 160_000],
  ['SUI', 'UD Bot', 3.3, 4, 0.003, 310_000],
  ['XRP', 'Tesla', 0.58, 4, 0.0022, 2_400_000],
  ['PEPE', 'UD Bot', 0.0000124, 8, 0.0035, 9e10],
  ['DOGE', 'Tesla', 0.16, 5, 0.0028, 6_800_000],
  ['ADA', 'UD Bot', 0.45, 4, 0.0022, 3_900_000],
];

export const DEMO_TOKENS: readonly DemoToken[] = ROWS.map((row) => {
  const [token, processor, startPrice, priceDecimals, volatility, volume] = row;
  return { token, processor, startPrice, priceDecimals, volatility, volume };
});
