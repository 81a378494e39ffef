import { describe, expect, test } from 'vitest';
import type { Signal } from '#contract/signals.ts';
import { judgeEnd, type Late } from './ends.ts';
import type { Alert } from './load.ts';
import { judgeAlerts, judgeTrade, judgeUnstruck, type Part, type TradeFacts } from './oracle.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

type Order = TradeFacts['orders'][number];

const entry = (fields: Partial<Order> = {}): Order => ({
  clientOrderId: 'first',
  reduceOnly: false,
  size: '10',
  filledSize: '10',
  state: 'filled',
  presetStopLoss: '98',
  presetTakeProfit: '104',
  createdAt: at(1),
  updatedAt: at(2),
  ...fields,
});

const whole = (fields: Partial<TradeFacts> = {}): TradeFacts => ({
  shown: [
    {
      success: true,
      fillStatus: 'filled',
      state: 'done',
      error: null,
      exchangeResponse: { symbol: 'BTCUSDT', priceAvg: '100', size: '10', side: 'buy', fee: '0' },
    },
  ],
  orders: [entry()],
  holding: { position: { size: '10' }, stopLoss: '98', takeProfit: '104' },
  ...fields,
});

const [shown] = whole().shown;

describe('a trade', () => {
  test('passes when filled, protected and shown as such, and when there was no order', () => {
    expect(judgeTrade(whole())).toEqual([]);
    const nothing = { shown: [], orders: [], holding: { position: null, stopLoss: null, takeProfit: null } };
    expect(judgeTrade(nothing)).toEqual([]);
  });

  test('passes with a second attempt for the rest after the first has ended', () => {
    const orders = [
      entry({ size: '10', filledSize: '4', state: 'canceled' }),
      entry({ clientOrderId: 'second', size: '6', filledSize: '6', createdAt: at(3), updatedAt: at(4) }),
    ];
    expect(judgeTrade(whole({ orders }))).toEqual([]);
  });

  const second = (fields: Partial<Order> = {}) =>
    entry({ clientOrderId: 'second', createdAt: at(3), updatedAt: at(4), ...fields });

  test.each<[string, Partial<TradeFacts>]>([
    ['I2: 2 trades', { shown: [...whole().shown, ...whole().shown] }],
    [
      'I2: 3 entry orders',
      { orders: [entry(), second(), second({ clientOrderId: 'third', createdAt: at(5) })] },
    ],
    ['I3: 20 filled of 10', { orders: [entry(), second()] }],
    ['I2, I6: first was still live', { orders: [entry({ updatedAt: at(4) }), second({ filledSize: '0' })] }],
    ['I2, I6: first was still live', { orders: [entry({ state: 'live' }), second()] }],
    ['I6: one client order id', { orders: [entry({ filledSize: '4' }), second({ clientOrderId: 'first' })] }],
    ['I5: first without', { orders: [entry({ presetStopLoss: null })] }],
    ['I5: first without', { orders: [entry({ presetTakeProfit: null })] }],
    ['I1: first still rests', { orders: [entry({ state: 'partially_filled' })] }],
    ['I4: a position', { holding: { position: { size: '10' }, stopLoss: null, takeProfit: '104' } }],
    ['do not add up', { holding: { position: { size: '9' }, stopLoss: '98', takeProfit: '104' } }],
    ['I7: the exchange has an order', { shown: [] }],
    ['I7: the screen says', { orders: [entry({ filledSize: '7', state: 'canceled' })] }],
    ['I1: the trade is working', { shown: shown === undefined ? [] : [{ ...shown, state: 'working' }] }],
    ['I7: called a success', { orders: [entry({ filledSize: '0', state: 'canceled' })] }],
    ['I9: an entry', { switchedOffAt: at(0) }],
  ])('with "%s…" does not pass', (violation, fields) => {
    expect(judgeTrade(whole(fields)).join('\n')).toContain(violation);
  });
});

describe('alerts', () => {
  const alert = (fields: Partial<Alert> = {}): Alert => ({
    nonce: 'a',
    acknowledgedId: '1',
    answers: ['200'],
    slowestMs: 1,
    token: 'BTC',
    trades: true,
    ...fields,
  });
  const signal = (fields: Partial<Signal> = {}) =>
    ({
      id: '1',
      parameters: { nonce: 'a' },
      automaticCount: 1,
      manualCount: 0,
      workflowStatus: 'completed',
      ...fields,
    }) as Signal;

  test('pass when stored once with an ended workflow or never acknowledged', () => {
    expect(judgeAlerts([alert()], [signal()])).toEqual([]);
    expect(judgeAlerts([alert({ acknowledgedId: null })], [])).toEqual([]);
    expect(judgeAlerts([alert({ acknowledgedId: null })], [signal()])).toEqual([]);
  });

  test.each<[string, Alert[], Signal[]]>([
    ['I1: a was acknowledged', [alert()], []],
    ['I1: a was acknowledged', [alert({ acknowledgedId: '2' })], [signal()]],
    ['I2: a is there 2 times', [alert()], [signal(), signal({ id: '2' })]],
    ['I2: a (1) has 2 workflows', [alert()], [signal({ automaticCount: 2 })]],
    ['I2: a (1) has 0 workflows', [alert()], [signal({ automaticCount: 0 })]],
    ['I1: a (1) is processing', [alert()], [signal({ workflowStatus: 'processing' })]],
    ['I2: b was never sent', [alert()], [signal(), signal({ id: '2', parameters: { nonce: 'b' } })]],
  ])('with "%s" do not pass', (violation, sent, signals) => {
    expect(judgeAlerts(sent, signals).join('\n')).toContain(violation);
  });
});

describe('users without a fault', () => {
  const part = (fields: Partial<Part> = {}): Part => ({
    token: 'BTC',
    userId: 'u',
    planned: '10',
    filled: '10',
    why: null,
    ...fields,
  });

  test('pass when their planned quantity is filled', () => {
    expect(judgeUnstruck([part(), part({ filled: '10.0' })])).toEqual({ violations: [], unanswered: 0 });
  });

  test('pass and are counted when the exchange was too slow', () => {
    const why = 'Bitget could not be asked: no answer within 2000 ms';
    expect(judgeUnstruck([part({ planned: null, filled: '0', why })])).toEqual({
      violations: [],
      unanswered: 1,
    });
  });

  test.each<[string, Partial<Part>]>([
    ['has 4 of 10', { filled: '4', why: 'The order was partly filled' }],
    ['has 0 of no order', { planned: null, filled: '0', why: 'The workflow failed' }],
    ['nothing is said of it', { planned: null, filled: '0' }],
  ])('with "%s" do not pass', (violation, fields) => {
    expect(judgeUnstruck([part(fields)]).violations).toEqual([expect.stringMatching(/^I8: BTC: u /)]);
    expect(judgeUnstruck([part(fields)]).violations.join()).toContain(violation);
  });
});

describe('the end of all workflows', () => {
  const late = (fields: Partial<Late>): Late => ({
    workflowId: 'w',
    token: 'BTC',
    status: 'processing',
    afterMs: 60_000,
    inDoubt: false,
    ...fields,
  });

  test('passes within 60 s of the last restart, or 100 s with an order in doubt', () => {
    expect(judgeEnd({ left: 0, late: [] })).toEqual([]);
    expect(judgeEnd({ left: 0, late: [late({ inDoubt: true })] })).toEqual([]);
  });

  test.each<[string, number, Late[]]>([
    ['w of BTC is processing 60 s after the last restart', 0, [late({})]],
    [
      'w of BTC is processing 100 s after the last restart, its order was in doubt',
      0,
      [late({ inDoubt: true, afterMs: 100_000 })],
    ],
    ['3 workflows do not go on', 3, []],
  ])('with "%s" does not pass', (violation, left, workflows) => {
    expect(judgeEnd({ left, late: workflows })).toEqual([`I1: ${violation}`]);
  });
});
