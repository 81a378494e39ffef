import { describe, expect, test } from 'vitest';
import { type ExecutionFacts, reportExecution, slippageBps } from './execution.ts';

const user = (username: string, changes: Partial<ExecutionFacts> = {}): ExecutionFacts => ({
  userId: username,
  username,
  position: 0,
  side: 'buy',
  storedAt: 1_005,
  decidedAt: 1_040,
  sentAt: 1_050,
  acceptedAt: 1_120,
  filledAt: 1_400,
  protectedAt: 1_500,
  answerMs: 60,
  fillPrice: '100.1',
  signalPrice: '100',
  entryPrice: '100.05',
  requests: 5,
  ...changes,
});
const NOTHING = {
  decidedAt: null,
  sentAt: null,
  acceptedAt: null,
  filledAt: null,
  protectedAt: null,
  answerMs: null,
  fillPrice: null,
  entryPrice: null,
  requests: 0,
};

// Requirements: results-execution-1
describe('the execution of a signal', () => {
  test('counts each stage from receipt and splits the time until the order was accepted', () => {
    expect(reportExecution(1_000, [user('ada')]).users).toEqual([
      {
        userId: 'ada',
        username: 'ada',
        stored: 5,
        decided: 40,
        sent: 50,
        accepted: 120,
        filled: 400,
        protected: 500,
        slippageSignalBps: '10.00',
        slippageEntryBps: '5.00',
        requests: 5,
        rank: 1,
        spent: { queue: 50, limits: 10, exchange: 60 },
      },
    ]);
  });

  test('ranks users by their first order and leaves out who sent none', () => {
    const { users, signal } = reportExecution(1_000, [
      user('carl', { sentAt: 1_070 }),
      user('dora', NOTHING),
      user('ada', { sentAt: 1_060, filledAt: null }),
      user('bob', { sentAt: 1_060, filledAt: 1_450, position: 1 }),
    ]);
    expect(users.map(({ username, rank }) => [username, rank])).toEqual([
      ['ada', 1],
      ['bob', 2],
      ['carl', 3],
      ['dora', null],
    ]);
    expect(users[3]).toMatchObject({ stored: 5, sent: null, spent: null, slippageSignalBps: null });
    expect(signal).toMatchObject({
      firstOrder: 60,
      lastOrder: 70,
      spreadOfFills: 50,
      sent: { p50: 60, p95: 70 },
      filled: { p50: 400, p95: 450 },
    });
  });

  test.each([
    ['queue', { sentAt: 3_000, acceptedAt: 3_100, answerMs: 90 }],
    ['limits', { sentAt: 1_050, acceptedAt: 3_100, answerMs: 90 }],
    ['exchange', { sentAt: 1_050, acceptedAt: 3_100, answerMs: 2_000 }],
  ])('says who was late, and that the time went to the %s', (mostly, changes) => {
    const { signal } = reportExecution(1_000, [user('ada'), user('bob'), user('late', changes)]);
    expect(signal.late).toEqual([{ userId: 'late', username: 'late', accepted: 2_100, mostly }]);
  });

  test('has no figures without orders', () => {
    expect(reportExecution(1_000, [user('ada', NOTHING)]).signal).toEqual({
      firstOrder: null,
      lastOrder: null,
      spreadOfFills: null,
      sent: null,
      filled: null,
      late: [],
    });
  });
});

test('slippage is positive when the fill is worse, for both sides', () => {
  expect(slippageBps('sell', '99.9', '100')).toBe('10.00');
  expect(slippageBps('sell', '100.1', '100')).toBe('-10.00');
  expect(slippageBps('buy', '99.9', '100')).toBe('-10.00');
});
