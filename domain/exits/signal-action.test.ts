import { describe, expect, test } from 'vitest';
import { readAction } from './signal-action.ts';

// Requirements: additions-exits-6
const read = (payload: Record<string, unknown>) => readAction((name) => payload[name]);
const strategy = (action: string, before: unknown, after: unknown, more: object = {}) =>
  read({ action, prev_market_position: before, market_position: after, ...more });

test.each([
  ['buy', 'buy'],
  ['Long', 'buy'],
  ['SELL', 'sell'],
  [' short ', 'sell'],
])('%j enters', (word, action) => {
  expect(read({ action: word })).toEqual({ ok: true, action, exit: null });
});

test.each([
  ['close', null],
  ['Exit', null],
  ['flat', null],
  ['close_long', 'long'],
  ['CLOSE_SHORT', 'short'],
])('%j closes', (word, side) => {
  expect(read({ action: word })).toEqual({ ok: true, action: 'close', exit: { side, percent: '100' } });
});

test.each(['1', 30, '99'])('reduces by %j percent', (percent) => {
  expect(read({ action: 'reduce', reduce_percent: percent })).toEqual({
    ok: true,
    action: 'reduce',
    exit: { side: null, percent: String(percent) },
  });
});

test.each([0, 100, 12.5, '-5', 'half', '1e1', {}])('refuses to reduce by %j percent', (percent) => {
  expect(read({ action: 'reduce', reduce_percent: percent })).toEqual({
    ok: false,
    field: 'reduce_percent',
    message: 'must be a whole number from 1 to 99',
  });
});

test.each([undefined, null, ''])('refuses to reduce when the percentage is %j', (percent) => {
  const message = 'is required';
  expect(read({ action: 'reduce', reduce_percent: percent })).toEqual({
    ok: false,
    field: 'reduce_percent',
    message,
  });
});

test.each(['hold', 'constructor', '', 7, null])('refuses the action %j', (action) => {
  expect(read({ action })).toEqual({
    ok: false,
    field: 'action',
    message: 'must be buy, sell, long, short, close, close_long, close_short or reduce',
  });
});

describe("a strategy's market position", () => {
  test.each([
    ['sell', 'long'],
    ['buy', 'short'],
    ['sell', 'flat'],
  ])('that becomes flat makes %s after %s a close', (action, before) => {
    expect(strategy(action, before, 'flat')).toEqual({
      ok: true,
      action: 'close',
      exit: { side: null, percent: '100' },
    });
  });

  test.each([
    ['buy', 'flat', 'long'],
    ['buy', 'short', 'long'],
    ['sell', 'flat', 'short'],
    ['sell', 'LONG', 'Short'],
    ['buy', 'long', 'long'],
    ['sell', 'short', 'short'],
  ])('lets %s enter from %s to %s', (action, before, after) => {
    expect(strategy(action, before, after)).toEqual({ ok: true, action, exit: null });
  });

  test.each([
    ['sell', 'flat', 'long'],
    ['buy', 'long', 'short'],
  ])('that contradicts %s from %s to %s is refused', (action, before, after) => {
    expect(strategy(action, before, after)).toEqual({
      ok: false,
      field: 'action',
      message: `${action} contradicts a market position that goes from ${before} to ${after}`,
    });
  });

  test('on the same side against the action reduces by the percentage, else by the sizes', () => {
    const sizes = { prev_market_position_size: '3', market_position_size: 1 };
    expect(strategy('sell', 'long', 'long', { ...sizes, reduce_percent: 25 })).toMatchObject({
      action: 'reduce',
      exit: { side: 'long', percent: '25' },
    });
    expect(strategy('sell', 'long', 'long', sizes)).toMatchObject({
      action: 'reduce',
      exit: { side: 'long', percent: '66.66666666' },
    });
    const negative = { prev_market_position_size: '-4', market_position_size: '-1' };
    expect(strategy('buy', 'short', 'short', negative)).toMatchObject({
      action: 'reduce',
      exit: { side: 'short', percent: '75' },
    });
  });

  test.each([
    {},
    { prev_market_position_size: '3' },
    { prev_market_position_size: '1', market_position_size: '1' },
    { prev_market_position_size: '1', market_position_size: '2' },
    { prev_market_position_size: '{{x}}', market_position_size: '1' },
    { prev_market_position_size: '1', market_position_size: '0' },
  ])('that says %j never enters and does not guess how much is reduced', (sizes) => {
    expect(strategy('sell', 'long', 'long', sizes)).toEqual({
      ok: true,
      action: 'reduce',
      exit: { side: 'long', percent: null },
    });
  });

  test.each([
    ['{{strategy.prev_market_position}}', 'flat'],
    [undefined, 'flat'],
    ['long', undefined],
    ['long', 5],
  ])('of %j and %j says nothing', (before, after) => {
    expect(strategy('sell', before, after)).toEqual({ ok: true, action: 'sell', exit: null });
  });
});
