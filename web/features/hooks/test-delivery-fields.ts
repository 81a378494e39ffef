export type TestKind = 'signal' | 'candle';
export type TestValues = Readonly<Record<string, string>>;

export interface TestField {
  /** As the payload names it, and as refusals do. */
  name: string;
  label: string;
  options?: readonly string[];
  inputMode?: 'decimal';
  description?: string;
}

const decimal = (label: string): TestField => ({ name: label, label, inputMode: 'decimal' });
const TIME: TestField = { name: 'time', label: 'Time', description: 'UTC, set anew with every send' };

export const TEST_FIELDS: Readonly<Record<TestKind, readonly TestField[]>> = {
  signal: [
    { name: 'symbol', label: 'Symbol' },
    { name: 'action', label: 'Action', options: ['buy', 'sell'] },
    { name: 'price', label: 'Price', inputMode: 'decimal' },
    { name: 'timeframe', label: 'Timeframe' },
    { name: 'processor', label: 'Processor' },
    TIME,
  ],
  candle: [
    { name: 'Symbol', label: 'Symbol' },
    { name: 'Timeframe', label: 'Timeframe' },
    decimal('Open'),
    decimal('High'),
    decimal('Low'),
    decimal('Close'),
    decimal('Volume'),
    decimal('ATR'),
    { name: 'immediate_trend', label: 'Immediate trend' },
    { name: 'mature_trend', label: 'Mature trend' },
    { name: 'DateTime', label: 'DateTime', description: 'UTC, yyyymmddhhmm' },
    TIME,
  ],
};

const SIGNAL_EXAMPLE = {
  symbol: 'BTCUSDT',
  action: 'buy',
  price: '97098.87',
  timeframe: '15',
  processor: 'Tesla',
};

const CANDLE_EXAMPLE = {
  Symbol: 'BTCUSDT',
  Timeframe: '15',
  Open: '97001.20',
  High: '97210.50',
  Low: '96950.10',
  Close: '97098.87',
  Volume: '182.4',
  ATR: '420',
  immediate_trend: 'bullish',
  mature_trend: 'bullish',
};

/** What the form starts with. The time makes every send a delivery of its own. */
export function testExample(kind: TestKind, now: Date): TestValues {
  const time = now.toISOString();
  if (kind === 'signal') return { ...SIGNAL_EXAMPLE, time };
  return { ...CANDLE_EXAMPLE, DateTime: time.slice(0, 16).replaceAll(/\D/g, ''), time };
}

/** In the order of the form; a field that was left blank is not sent. */
export const testPayload = (kind: TestKind, values: TestValues): Record<string, string> =>
  Object.fromEntries(
    TEST_FIELDS[kind]
      .map(({ name }) => [name, (values[name] ?? '').trim()] as const)
      .filter(([, value]) => value !== ''),
  );
