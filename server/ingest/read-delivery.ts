import type { FieldError } from '#contract/errors.ts';
import { isPlainText } from '#contract/text.ts';
import { describeAhead, parseTime } from '#domain/candle-time.ts';
import { parsePositiveNumber } from '#domain/decimal.ts';
import { LONGEST_PROCESSOR } from '#domain/eligibility/processor.ts';
import { type Exit, type ReadAction, readAction, type SignalAction } from '#domain/exits/signal-action.ts';
import { describeUnreadable, isAbsent, listUnreadable } from '#domain/sizing/candle-figures.ts';
import { timeframeMinutes } from '#domain/timeframe.ts';
import { normaliseSymbol } from '#domain/token.ts';
import { cutText } from '#server/platform/cut-text.ts';
import { type Payload, type Refusal, refusal } from './read-payload.ts';

export type DeliveryKind = 'signal' | 'candle';

export interface SignalFields {
  token: string;
  currency: string;
  action: SignalAction;
  price: string;
  timeframe: string;
  processor: string;
  timeText: string | null;
  time: Date | null;
  parameters: Payload;
}

export interface CandleFields {
  token: string;
  currency: string;
  price: string;
  timeframe: string;
  processor: string | null;
  timeText: string;
  time: Date;
  parameters: Payload;
  /** The optional fields that cannot be read, in words for the sender. */
  warnings: string[];
}

type Read<Fields> = { ok: true; fields: Fields } | Refusal;

const TIME_FIELDS = ['time', 'timenow', 'datetime'];
const SIGNAL_FIELDS = ['symbol', 'action', 'price', 'timeframe', 'processor'];
/** What else says whether a signal enters or leaves, and how much. */
const POSITION_FIELDS = [
  'market_position',
  'prev_market_position',
  'reduce_percent',
  'market_position_size',
  'prev_market_position_size',
];
/** Whose signals the candle belongs to is needed too: without a processor it belongs to all. */
const CANDLE_FIELDS = ['Symbol', 'Timeframe', 'DateTime', 'Close', 'processor'];
/** Candle fields that the calculator reads, stored in lower case next to the payload. */
const CANDLE_PARAMETERS = ['close', 'immediate_trend', 'mature_trend', 'atr', 'datetime'];

/** Required: symbol, action, price, timeframe, processor. */
export function readSignal(payload: Payload): Read<SignalFields> {
  const reader = createReader(payload);
  const timeField = TIME_FIELDS.find((name) => !isAbsent(reader.find(name)));
  const unfilled = reader.findPlaceholder([...SIGNAL_FIELDS, ...POSITION_FIELDS, timeField]);
  if (unfilled !== null) return unfilled;
  const symbol = reader.symbol('symbol');
  const asked = reader.action();
  const price = reader.required('price', readNumber);
  const timeframe = reader.required('timeframe', readTimeframe);
  const processor = reader.required('processor', readName);
  const time = timeField === undefined ? null : reader.optional(timeField, readTime);
  if (symbol === null || asked === null || price === null || timeframe === null || processor === null) {
    return reader.refuse();
  }
  if (reader.errors.length > 0) return reader.refuse();
  return {
    ok: true,
    fields: {
      ...symbol,
      action: asked.action,
      price,
      timeframe,
      processor,
      timeText: time?.text ?? null,
      time: time?.parsed ?? null,
      parameters: Object.fromEntries(
        Object.entries(payload).filter(([name]) => isParameter(fold(name), asked.exit)),
      ),
    },
  };
}

/** A signal that leaves keeps its action as received: `close_long` is stored as a close. */
const isParameter = (name: string, exit: Exit | null): boolean =>
  !SIGNAL_FIELDS.includes(name) || (name === 'action' && exit !== null);

/** What a stored signal that leaves asks for; null for one that enters. */
export function readExit(signal: { action: string; parameters: Payload }): Exit | null {
  if (signal.action === 'buy' || signal.action === 'sell') return null;
  const byName = new Map(Object.entries(signal.parameters).map(([name, value]) => [fold(name), value]));
  const read = readAction((name) => byName.get(fold(name)));
  // Rows of another origin: a close without a side, and a reduction that does not say by how much.
  return (read.ok && read.exit) || { side: null, percent: signal.action === 'close' ? '100' : null };
}

/** Required: Symbol, Timeframe, DateTime, Close; Currency defaults to the symbol's or USDT, processor to null. */
export function readCandle(payload: Payload): Read<CandleFields> {
  const reader = createReader(payload);
  const unfilled = reader.findPlaceholder(CANDLE_FIELDS);
  if (unfilled !== null) return unfilled;
  const symbol = reader.symbol('Symbol');
  const timeframe = reader.required('Timeframe', readTimeframe);
  const time = reader.required('DateTime', readTime);
  const price = reader.required('Close', readNumber);
  const givenCurrency = reader.find('Currency');
  // Nothing is decided by it.
  const isCurrencyUnfilled = placeholderIn(givenCurrency) !== null;
  const currency = isCurrencyUnfilled ? null : reader.optional('Currency', readCurrency);
  const processor = reader.optional('processor', readName);
  reader.refuseRepeated(CANDLE_PARAMETERS);
  if (symbol === null || timeframe === null || time === null || price === null) return reader.refuse();
  if (reader.errors.length > 0) return reader.refuse();
  const named = CANDLE_PARAMETERS.map((name) => [name, reader.find(name)] as const);
  const warnings = listUnreadable(reader.find).map(describeUnreadable);
  if (isCurrencyUnfilled) {
    const text = cutText(String(givenCurrency), 60);
    warnings.push(`Currency "${text}" is a placeholder, so the currency is ${symbol.currency}`);
  }
  return {
    ok: true,
    fields: {
      token: symbol.token,
      currency: currency ?? symbol.currency,
      price,
      timeframe,
      processor,
      timeText: time.text,
      time: time.parsed,
      parameters: { ...payload, ...Object.fromEntries(named.filter(([, value]) => value !== undefined)) },
      warnings,
    },
  };
}

/** A time that is not here yet would give a later signal figures that nobody has seen, or match no candle. */
export function refuseAhead(
  kind: DeliveryKind,
  { fields, receivedAt }: { fields: SignalFields | CandleFields; receivedAt: Date },
): Refusal | null {
  const { time, timeframe } = fields;
  if (time === null) return null;
  const barMinutes = kind === 'candle' ? timeframeMinutes(timeframe) : null;
  const message = describeAhead({ time, receivedAt, barMinutes });
  if (message === null) return null;
  const path = kind === 'candle' ? 'DateTime' : 'time';
  return { ok: false, message: `${path} ${message}`, errors: [{ path, message }] };
}

type Checked<Value> = { value: Value } | string;

const readNumber = (value: unknown): Checked<string> => {
  const parsed = parsePositiveNumber(value);
  return parsed.ok ? { value: parsed.value } : parsed.reason;
};

const readTime = (value: unknown): Checked<{ text: string; parsed: Date }> => {
  const parsed = parseTime(value);
  if (parsed === null) return 'must be a date as yyyymmddhhmm';
  return { value: { text: cutText(String(value).trim(), 100), parsed } };
};

const readText = (value: unknown, maximum: number): Checked<string> => {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '') return 'must be text';
  return isPlainText(text, maximum) ? { value: text } : `must be at most ${maximum} plain characters`;
};
const readName = (value: unknown) => readText(value, LONGEST_PROCESSOR);
const readTimeframe = (value: unknown) => readText(Number.isInteger(value) ? String(value) : value, 16);
const readCurrency = (value: unknown): Checked<string> => {
  const text = readText(value, 10);
  if (typeof text === 'string') return text;
  const upper = text.value.toUpperCase();
  return /^[A-Z0-9]{2,10}$/.test(upper) ? { value: upper } : 'must be 2 to 10 letters or digits';
};

const PLACEHOLDER = /\{\{[^{}]*\}\}/;

/** TradingView sends placeholders that it does not know literally: `{{close_price}}`. */
const placeholderIn = (value: unknown): string | null =>
  typeof value === 'string' ? (PLACEHOLDER.exec(value)?.[0] ?? null) : null;

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';

/** Looks up fields, ignoring case, `_`, `-` and blanks, and collects their faults. */
function createReader(payload: Payload) {
  const errors: FieldError[] = [];
  const byName = new Map<string, unknown>();
  const twice = new Set<string>();
  for (const [name, value] of Object.entries(payload)) {
    const key = fold(name);
    if (byName.has(key)) twice.add(key);
    byName.set(key, value);
  }
  function check<Value>(
    name: string,
    value: unknown,
    read: (value: unknown) => Checked<Value>,
  ): Value | null {
    const result = twice.has(fold(name)) ? 'is given twice' : read(value);
    if (typeof result !== 'string') return result.value;
    errors.push({ path: name, message: result });
    return null;
  }
  return {
    errors,
    find: (name: string) => byName.get(fold(name)),
    /** The refusal of the first of these fields that still holds a placeholder. */
    findPlaceholder(names: readonly (string | undefined)[]): Refusal | null {
      const isNeeded = (name: string) =>
        names.some((needed) => needed !== undefined && fold(needed) === fold(name));
      for (const [name, value] of Object.entries(payload)) {
        const placeholder = placeholderIn(value);
        if (placeholder !== null && isNeeded(name)) {
          return refusal(name, `is still the placeholder ${placeholder}`);
        }
      }
      return null;
    },
    required<Value>(name: string, read: (value: unknown) => Checked<Value>): Value | null {
      const value = byName.get(fold(name));
      if (!isGiven(value)) {
        errors.push({ path: name, message: 'is required' });
        return null;
      }
      return check(name, value, read);
    },
    optional<Value>(name: string, read: (value: unknown) => Checked<Value>): Value | null {
      const value = byName.get(fold(name));
      return isGiven(value) ? check(name, value, read) : null;
    },
    /** Of two spellings of one field, neither can be trusted. */
    refuseRepeated(names: readonly string[]): void {
      for (const name of names) {
        if (!twice.has(fold(name)) || errors.some(({ path }) => fold(path) === fold(name))) continue;
        errors.push({ path: name, message: 'is given twice' });
      }
    },
    symbol(name: string): { token: string; currency: string } | null {
      return this.required(name, (value) => {
        const result = typeof value === 'string' ? normaliseSymbol(value) : null;
        if (result === null) return 'must be text';
        return result.ok ? { value: { token: result.token, currency: result.currency } } : result.reason;
      });
    },
    action(): Extract<ReadAction, { ok: true }> | null {
      if (this.required('action', (value) => ({ value })) === null) return null;
      const repeated = POSITION_FIELDS.find((name) => twice.has(fold(name)));
      const read: ReadAction =
        repeated === undefined
          ? readAction(this.find)
          : { ok: false, field: repeated, message: 'is given twice' };
      if (read.ok) return read;
      errors.push({ path: read.field, message: read.message });
      return null;
    },
    refuse(): Refusal {
      const [first] = errors;
      return {
        ok: false,
        message: first === undefined ? 'The payload is not usable' : `${first.path} ${first.message}`,
        errors,
      };
    },
  };
}

const folded = new Map<string, string>();
/** Charts send the same few names again and again. */
const MAX_FOLDED = 2_000;

function fold(name: string): string {
  const known = folded.get(name);
  if (known !== undefined) return known;
  const plain = name.toLowerCase().replaceAll(/[\s_-]/g, '');
  if (folded.size < MAX_FOLDED && name.length <= 64) folded.set(name, plain);
  return plain;
}
