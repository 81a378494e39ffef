import { Decimal as DecimalJs } from 'decimal.js';
import { LARGEST_NUMBER, SMALLEST_NUMBER } from './sizing/trading-constants.ts';

/**
 * The only configuration of decimal arithmetic. It rounds down, so that a quotient of more than 40 digits is never too
 * large: sizes are quotients.
 */
const Configured = DecimalJs.clone({ precision: 40, rounding: DecimalJs.ROUND_DOWN });

export type Decimal = DecimalJs;
export type Numeric = string | number | DecimalJs;

const DECIMAL_TEXT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?0?\d{1,2})?$/;
/** The range has 25 digits, and nobody quotes more than 20 decimals; longer text is an attack or an accident. */
const MAX_NUMBER_LENGTH = 48;

/** Builds a decimal. Throws on anything but a finite decimal number, including hex, separators and blanks. */
export function D(value: Numeric): Decimal {
  if (typeof value === 'string' && !DECIMAL_TEXT.test(value)) {
    throw new RangeError(`Not a decimal number: ${JSON.stringify(value.slice(0, MAX_NUMBER_LENGTH))}`);
  }
  const decimal = new Configured(value);
  if (!decimal.isFinite()) throw new RangeError(`Not a finite number: ${String(value)}`);
  return decimal;
}

/** Plain text: no exponent, no trailing zeros, no minus zero. */
export function toPlain(value: Numeric): string {
  return D(value).toFixed();
}

/** A fraction as text in percent: `toPercent('0.0512')` is '5.12'. */
export function toPercent(fraction: Numeric, decimals = 2): string {
  return D(fraction).times(100).toDecimalPlaces(decimals, DecimalJs.ROUND_HALF_UP).toFixed(decimals);
}

/** Rounds half away from zero, with this many decimals: `roundHalfUp('2.345', 2)` is '2.35'. */
export function roundHalfUp(value: Numeric, decimals: number): string {
  const rounded = D(value).toDecimalPlaces(decimals, DecimalJs.ROUND_HALF_UP);
  return (rounded.isZero() ? D(0) : rounded).toFixed(decimals);
}

/** Cuts the tail of a periodic quotient; never rounds up. */
export function cutFraction(fraction: Numeric): string {
  return toPlain(D(fraction).toDecimalPlaces(12, DecimalJs.ROUND_DOWN));
}

/** The largest multiple of `step` that is not above `value`. */
export function floorToStep(value: Numeric, step: Numeric): Decimal {
  return floorRatioToStep({ numerator: value, denominator: 1, step });
}

/**
 * The largest multiple of `step` that is not above `numerator / denominator`, by one integer division: a quotient such
 * as 50 / 1000 lands on its step exactly, whatever its factors were.
 */
export function floorRatioToStep(ratio: {
  numerator: Numeric;
  denominator: Numeric;
  step: Numeric;
}): Decimal {
  const step = D(ratio.step);
  const divisor = D(ratio.denominator).times(step);
  if (!step.gt(0) || !divisor.gt(0)) throw new RangeError('Step and denominator must be above zero');
  const numerator = D(ratio.numerator);
  const steps = numerator.divToInt(divisor);
  const floored = steps.times(divisor).gt(numerator) ? steps.minus(1) : steps;
  return floored.times(step);
}

/** The nearest multiple of `tick` in the given direction; a price on the tick stays. */
export function roundToTick(price: Numeric, tick: Numeric, direction: 'up' | 'down'): Decimal {
  const floor = floorToStep(price, tick);
  return direction === 'down' || floor.eq(price) ? floor : floor.plus(tick);
}

export function isMultipleOf(value: Numeric, step: Numeric): boolean {
  return floorToStep(value, step).eq(value);
}

export function smallest(first: Numeric, ...others: Numeric[]): Decimal {
  return others.reduce<Decimal>((least, other) => (D(other).lt(least) ? D(other) : least), D(first));
}

export function largest(first: Numeric, ...others: Numeric[]): Decimal {
  return others.reduce<Decimal>((most, other) => (D(other).gt(most) ? D(other) : most), D(first));
}

/** Whether the text is a decimal number. Never throws. */
export function isDecimal(text: string | null | undefined): boolean {
  return typeof text === 'string' && DECIMAL_TEXT.test(text) && new Configured(text).isFinite();
}

/** Whether the text is a decimal number above zero. Never throws. */
export function isPositive(text: string | null | undefined): boolean {
  return positiveOrNull(text) !== null;
}

/** The decimal when the text is a number above zero, else null. Never throws. */
export function positiveOrNull(text: string | null | undefined): Decimal | null {
  if (typeof text !== 'string' || !isDecimal(text)) return null;
  const decimal = D(text);
  return decimal.gt(0) ? decimal : null;
}

export type ParsedNumber = { ok: true; value: string } | { ok: false; reason: string };

/** Text that is plain and in range whatever its digits are: nearly all that charts send. */
const PLAIN_IN_RANGE = /^(?:[1-9]\d{0,11}(?:\.\d{0,11}[1-9])?|0\.\d{0,11}[1-9])$/;

/**
 * The one reader of numbers in alerts: a finite number, or its text, which is trimmed and may have an exponent. The
 * value is plain text above zero, from 1e-12 to 1e12.
 */
export function parsePositiveNumber(value: unknown): ParsedNumber {
  if (typeof value !== 'number' && typeof value !== 'string')
    return refused('must be a number or a string of digits');
  const text = String(value).trim();
  if (PLAIN_IN_RANGE.test(text)) return { ok: true, value: text };
  if (typeof value === 'number') {
    return Number.isFinite(value) ? inRange(value) : refused('must be a finite number');
  }
  if (text.length > MAX_NUMBER_LENGTH) return refused(`must have at most ${MAX_NUMBER_LENGTH} characters`);
  // A sign is a mistake in a price, even a plus.
  if (!isDecimal(text) || /^[+-]/.test(text)) return refused('must be digits with at most one point');
  return inRange(text);
}

function inRange(value: Numeric): ParsedNumber {
  const decimal = D(value);
  if (!decimal.gt(0)) return refused('must be above zero');
  if (decimal.lt(SMALLEST_NUMBER) || decimal.gt(LARGEST_NUMBER)) {
    return refused(`must be between ${SMALLEST_NUMBER} and ${LARGEST_NUMBER}`);
  }
  return { ok: true, value: toPlain(decimal) };
}

function refused(reason: string): ParsedNumber {
  return { ok: false, reason };
}
