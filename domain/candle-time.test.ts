import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTime } from './candle-time.ts';

describe('parseTime of yyyymmddhhmm', () => {
  it.each([
    ['202405011234', '2024-05-01T12:34:00.000Z'],
    ['202402292359', '2024-02-29T23:59:00.000Z'],
    ['199912310000', '1999-12-31T00:00:00.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(parseTime(text)?.toISOString()).toBe(instant);
  });

  it.each([
    ...'202402301200 202302291200 202413011200 202400011200 202401001200 202401012400'.split(' '),
    ...'202401011260 20240101120 202401011260 20240101120060 000101011200'.split(' '),
    '',
  ])('refuses %j', (text) => {
    expect(parseTime(text)).toBeNull();
  });

  it('reads back every formatted minute', () => {
    const anyMinute = fc.integer({ min: 0, max: 130_000_000 }).map((minutes) => new Date(minutes * 60_000));
    fc.assert(
      fc.property(anyMinute, (instant) => {
        const text = instant.toISOString().replace(/\D/g, '').slice(0, 12);
        expect(parseTime(text)).toEqual(instant);
      }),
    );
  });
});

describe('parseTime', () => {
  it.each<[unknown, string]>([
    ['2024-05-01T12:34:56Z', '2024-05-01T12:34:56.000Z'],
    ['2024-05-01T12:34:56.789Z', '2024-05-01T12:34:56.789Z'],
    ['2024-05-01T12:34:56.7Z', '2024-05-01T12:34:56.700Z'],
    ['2024-05-01 12:34', '2024-05-01T12:34:00.000Z'],
    ['2024-05-01T12:34:56', '2024-05-01T12:34:56.000Z'],
    ['2024-05-01T12:34:56+02:00', '2024-05-01T10:34:56.000Z'],
    ['2024-05-01T12:34:56-0530', '2024-05-01T18:04:56.000Z'],
    ['2024-05-01', '2024-05-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59-00:00', '9999-12-31T23:59:59.000Z'],
    ['0100-01-01T00:00:00+14:00', '0099-12-31T10:00:00.000Z'],
    [1714566896, '2024-05-01T12:34:56.000Z'],
    ['1714566896', '2024-05-01T12:34:56.000Z'],
    [1714566896123, '2024-05-01T12:34:56.123Z'],
    ['1714566896123', '2024-05-01T12:34:56.123Z'],
    ['202405011234', '2024-05-01T12:34:00.000Z'],
    [202405011234, '2024-05-01T12:34:00.000Z'],
    ['20240501123456', '2024-05-01T12:34:56.000Z'],
    [20240501123456, '2024-05-01T12:34:56.000Z'],
    [' 202405011234\n', '2024-05-01T12:34:00.000Z'],
    ['1714566896.123', '2024-05-01T12:34:56.123Z'],
    [1714566896.123, '2024-05-01T12:34:56.123Z'],
    ['2024-05-01 12:34:56', '2024-05-01T12:34:56.000Z'],
    ['Wed, 01 May 2024 12:34:56 GMT', '2024-05-01T12:34:56.000Z'],
    ['1 May 2024 12:34 +0200', '2024-05-01T10:34:00.000Z'],
  ])('%j is %s', (value, instant) => {
    expect(parseTime(value)?.toISOString()).toBe(instant);
  });

  it.each<unknown>([
    ...'2024-02-30T00:00:00Z 2024-01-01T24:00:00Z 2024-01-01T12:60:00Z 2024-01-01T12:00:60Z'.split(' '),
    ...'2024-01-01T12:00:00+15:00 9999-12-31T23:59:00-14:00 9999-12-31T23:59:00-00:01'.split(' '),
    ...['Thu, 01 May 2024 12:34:56 GMT', 'Wed, 32 May 2024 12:34:56 GMT', '01 Xyz 2024 12:34:56 GMT'],
    ...['2026-11-28 01:45:07 UTC', 'yesterday', '{{timenow}}', '', null, undefined, true, {}, []],
    ...[Number.NaN, Infinity, -1, 0, 5, 1e300],
  ])('refuses %j', (value) => {
    expect(parseTime(value)).toBeNull();
  });

  it('never returns an invalid date', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.stringMatching(/^[0-9TZ:+. -]{0,26}$/)), (value) => {
        const instant = parseTime(value);
        expect(instant?.toISOString() ?? '0000').toMatch(/^\d{4}/);
      }),
    );
  });
});
