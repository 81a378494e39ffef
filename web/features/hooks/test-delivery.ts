import type { EnvironmentStatus } from '#contract/environment.ts';

export type TestKind = 'signal' | 'candle';
export type TestValues = Readonly<Record<string, string>>;

export interface TestField {
  /** Name in the payload and in refusals; also the label without another one. */
  name: string;
  label?: string;
  options?: readonly string[];
  inputMode?: 'decimal';
  description?: string;
}

const decimal = (name: string): TestField => ({ name, inputMode: 'decimal' });
const TIME: TestField = { name: 'time', label: 'Time', description: 'UTC, set anew with every send' };

export const TEST_FIELDS: Readonly<Record<TestKind, readonly TestField[]>> = {
  signal: [
    { name: 'symbol', label: 'Symbol' },
    { name: 'action', label: 'Action', options: ['buy', 'sell', 'close', 'close_long', 'close_short'] },
    { name: 'price', label: 'Price', inputMode: 'decimal' },
    { name: 'timeframe', label: 'Timeframe' },
    { name: 'processor', label: 'Processor' },
    TIME,
  ],
  candle: [
    { name: 'Symbol' },
    { name: 'Timeframe' },
    ...['Open', 'High', 'Low', 'Close', 'Volume', 'ATR'].map(decimal),
    { name: 'immediate_trend', label: 'Immediate trend' },
    { name: 'mature_trend', label: 'Mature trend' },
    { name: 'DateTime', description: 'UTC, yyyymmddhhmm' },
    TIME,
  ],
};

export const SIGNAL_EXAMPLE = {
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

/** Initial form values. The time makes every send a distinct delivery. */
export function testExample(kind: TestKind, now: Date): TestValues {
  const time = now.toISOString();
  if (kind === 'signal') return { ...SIGNAL_EXAMPLE, time };
  return { ...CANDLE_EXAMPLE, DateTime: time.slice(0, 16).replaceAll(/\D/g, ''), time };
}

/** Fields in form order, without blank ones. */
export const testPayload = (kind: TestKind, values: TestValues): Record<string, string> =>
  Object.fromEntries(
    TEST_FIELDS[kind]
      .map(({ name }) => [name, (values[name] ?? '').trim()] as const)
      .filter(([, value]) => value !== ''),
  );

type Trading = Pick<EnvironmentStatus, 'exchangeMode' | 'autoTradeEnabled'>;

interface Sender {
  isAdmin: boolean;
  /** Null when unknown, as for ordinary users. */
  trading: Trading | null;
}

/** The server refuses test deliveries then: no test button moves real money, nor the stops that protect it. */
export const areTestsRefused = (trading: Trading | null): boolean =>
  trading?.exchangeMode === 'live' && trading.autoTradeEnabled;

/** Describes what a test delivery will do, before it is sent. */
export function testDeliveryEffect(kind: TestKind, sender: Sender): string {
  if (areTestsRefused(sender.trading)) {
    return 'Real money is traded automatically at the moment: test deliveries are refused.';
  }
  return kind === 'signal' ? signalEffect(sender) : candleEffect(sender);
}

function signalEffect({ isAdmin, trading }: Sender): string {
  return isAdmin
    ? `It counts like a real signal, for every eligible user. ${positionsText(trading)}`
    : 'It counts like a real signal, but only for you. A position is opened for you if automatic trading is on and you are eligible; while real money is traded automatically, test deliveries are refused.';
}

function positionsText(trading: Trading | null): string {
  if (trading === null) return 'Whether positions are opened now is not known.';
  if (!trading.autoTradeEnabled) return 'Automatic trading is off: no position is opened now.';
  const places: Readonly<Record<string, string>> = {
    paper: ', on the paper exchange, without real money',
    demo: ', in demo trading, without real money',
  };
  return `Automatic trading is on: positions are opened now${places[trading.exchangeMode] ?? ''}.`;
}

function candleEffect({ isAdmin, trading }: Sender): string {
  if (!isAdmin) {
    return 'It counts like a real candle, but only for your own signals: those that follow are matched with it. It opens no position.';
  }
  const paper = trading?.exchangeMode === 'paper' ? ' Its close moves the price of the paper exchange.' : '';
  return `It counts like a real candle, for everybody: signals that follow are matched with it. It opens no position.${paper}`;
}
