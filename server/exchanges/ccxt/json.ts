import { isDecimal, isPositive, toPlain } from '#domain/decimal.ts';

/* Readers of an exchange's own JSON. A field that must be there and is not throws, and the outcome counts as not known. */

export type Json = Record<string, unknown>;

export function record(value: unknown): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new RangeError('The exchange answered something else than an object');
  }
  return value as Json;
}

export function list(value: unknown): Json[] {
  if (!Array.isArray(value)) throw new RangeError('The exchange answered something else than a list');
  return value.map(record);
}

export const textOf = (value: unknown) =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

export function decimal(from: Json, name: string): string {
  const text = textOf(from[name]);
  if (!isDecimal(text)) throw new RangeError(`The exchange answered no number as ${name}`);
  return toPlain(text);
}

/** For figures that are left out, or left empty, where they do not apply. */
export function decimalOrZero(from: Json, name: string): string {
  const value = from[name];
  return value === undefined || value === null || value === '' ? '0' : decimal(from, name);
}

export function priceOrNull(value: unknown): string | null {
  const text = textOf(value);
  return isPositive(text) ? toPlain(text) : null;
}

export function instant(from: Json, name: string): Date {
  const ms = Number(textOf(from[name]) || Number.NaN);
  if (!Number.isFinite(ms) || ms <= 0) throw new RangeError(`The exchange answered no time as ${name}`);
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) throw new RangeError(`The exchange answered no time as ${name}`);
  return at;
}
