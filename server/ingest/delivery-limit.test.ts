import { describe, expect, test } from 'vitest';
import { createDeliveryLimit } from './delivery-limit.ts';

function limitOf(perMinute: number) {
  let nowMs = 1000;
  const limit = createDeliveryLimit({ perMinute, nowMs: () => nowMs });
  return {
    deliver: (hookId: string) => limit(hookId, {}),
    limit,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('a webhook has its deliveries a minute, then none, then as many again', () => {
  const { deliver, advance } = limitOf(3);
  expect([1, 2, 3, 4, 5].map(() => deliver('a'))).toEqual([true, true, true, false, false]);
  advance(59_999);
  expect(deliver('a')).toBe(false);
  advance(1);
  expect([1, 2, 3, 4].map(() => deliver('a'))).toEqual([true, true, true, false]);
});

test('webhooks do not use up each other’s deliveries', () => {
  const { deliver } = limitOf(1);
  expect([deliver('a'), deliver('b'), deliver('a'), deliver('b')]).toEqual([true, true, false, false]);
});

test('a delivery whose commit is tried again counts once', () => {
  const { limit } = limitOf(1);
  const [first, second] = [{}, {}];
  expect([limit('a', first), limit('a', first), limit('a', second), limit('a', first)]).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

test('zero is no limit', () => {
  const { deliver } = limitOf(0);
  expect(Array.from({ length: 10_000 }, () => deliver('a')).every(Boolean)).toBe(true);
});

test('counts what other instances took, as learned last, and asks once a second', () => {
  const { deliver, limit, advance } = limitOf(3);
  expect(limit.outdated(['a', 'b']).hookIds).toEqual(['a', 'b']);
  limit.outdated(['a']).learn('a', 2);
  expect(limit.outdated(['a', 'b']).hookIds).toEqual(['b']);
  expect([deliver('a'), deliver('a')]).toEqual([true, false]);
  advance(999);
  expect(limit.outdated(['a']).hookIds).toEqual([]);
  advance(1);
  expect(limit.outdated(['a']).hookIds).toEqual(['a']);
  // The first of theirs is a minute old by now. Of the two that the log holds one is this instance's own.
  limit.outdated(['a']).learn('a', 2);
  expect([deliver('a'), deliver('a')]).toEqual([true, false]);
});

test('counts a delivery once while it is on its way to the log', () => {
  const { deliver, limit } = limitOf(4);
  expect(deliver('a')).toBe(true);
  const { learn } = limit.outdated(['a']);
  expect(deliver('a')).toBe(true);
  // The second was written while the log was read, or was not yet.
  learn('a', 2);
  expect(deliver('a')).toBe(true);
  limit.outdated(['a']).learn('a', 1);
  expect([deliver('a'), deliver('a')]).toEqual([true, false]);
});

test('treats deliveries that leave the count while the log is read as its own', () => {
  const { deliver, limit, advance } = limitOf(1);
  expect(deliver('a')).toBe(true);
  advance(59_900);
  const { learn } = limit.outdated(['a']);
  advance(100);
  learn('a', 1);
  expect([deliver('a'), deliver('a')]).toEqual([true, false]);
});

test('a clock that goes back does not keep a webhook from delivering', () => {
  const { deliver, advance } = limitOf(2);
  advance(3_600_000);
  expect([deliver('a'), deliver('a'), deliver('a')]).toEqual([true, true, false]);
  advance(-3_600_000);
  expect([deliver('a'), deliver('a'), deliver('a')]).toEqual([true, true, false]);
});

describe('minute after minute', () => {
  const MINUTE_MS = 60_000;

  /** Instances that share a log, as their clock moves on; each learns from it when it is due, before it judges. */
  function instancesOf(options: { perMinute: number; instances?: number }) {
    let nowMs = 1_000_000;
    const log: number[] = [];
    const start = () => createDeliveryLimit({ perMinute: options.perMinute, nowMs: () => nowMs });
    const limits = Array.from({ length: options.instances ?? 1 }, start);
    const takenSince = (sinceMs: number) => log.length - log.findLastIndex((at) => at < sinceMs) - 1;
    return {
      log,
      restart: () => limits.fill(start()),
      at: (ms: number) => {
        nowMs = 1_000_000 + ms;
      },
      deliver(instance = 0): boolean {
        const limit = limits[instance];
        if (limit === undefined) throw new Error(`no instance ${instance}`);
        const { hookIds, reachMs, learn } = limit.outdated(['a']);
        for (const id of hookIds) learn(id, takenSince(nowMs - reachMs));
        const within = limit('a', {});
        if (within) log.push(nowMs);
        return within;
      },
      /** The most that was taken within any minute. */
      mostInAMinute: () =>
        log.reduce((most, at, index) => {
          const first = log.findIndex((earlier) => earlier > at - MINUTE_MS);
          return Math.max(most, index - first + 1);
        }, 0),
    };
  }

  type Instances = ReturnType<typeof instancesOf>;

  /** Sends so many in each of these minutes, evenly, and answers how many were taken. */
  function send(to: Instances, options: { perMinute: number; minutes: number; fromMs?: number }): number {
    const { perMinute, minutes, fromMs = 0 } = options;
    return Array.from({ length: perMinute * minutes }, (_, index) => {
      to.at(fromMs + (index * MINUTE_MS) / perMinute);
      return to.deliver();
    }).filter(Boolean).length;
  }

  // Requirements: settings-of-the-program-13
  test.each([450, 599, 600])('a webhook that sends %d a minute of 600 is refused nothing', (perMinute) => {
    const board = instancesOf({ perMinute: 600 });
    expect(send(board, { perMinute, minutes: 5 })).toBe(5 * perMinute);
  });

  // Requirements: settings-of-the-program-13
  test('one that sends all of its limit in a burst may do so again a minute later', () => {
    const board = instancesOf({ perMinute: 600 });
    for (let burst = 0; burst < 5; burst += 1) {
      const within = Array.from({ length: 600 }, (_, index) => {
        board.at(burst * 60_300 + index * 3);
        return board.deliver();
      });
      expect(within.filter(Boolean)).toHaveLength(600);
    }
  });

  // Requirements: settings-of-the-program-13
  test('refuses only what exceeds the limit', () => {
    const board = instancesOf({ perMinute: 600 });
    const taken = send(board, { perMinute: 900, minutes: 5 });
    expect(taken).toBeGreaterThanOrEqual(5 * 600);
    // The first of the sixty seconds leaves the count as a whole.
    expect(board.mostInAMinute()).toBeLessThanOrEqual(600 + 900 / 60);
  });

  test('gives the whole limit again to a webhook that was refused for long and then sends less', () => {
    const board = instancesOf({ perMinute: 600 });
    send(board, { perMinute: 6_000, minutes: 2 });
    const fromMs = 3 * MINUTE_MS;
    expect(send(board, { perMinute: 600, minutes: 2, fromMs })).toBe(2 * 600);
  });

  test('a program that starts anew goes on where the one before it ended', () => {
    const board = instancesOf({ perMinute: 600 });
    expect(send(board, { perMinute: 600, minutes: 2 })).toBe(1_200);
    board.restart();
    expect(send(board, { perMinute: 600, minutes: 2, fromMs: 2 * MINUTE_MS })).toBe(1_200);
    board.restart();
    expect(send(board, { perMinute: 6_000, minutes: 1, fromMs: 4 * MINUTE_MS })).toBeLessThanOrEqual(610);
  });

  // Requirements: settings-of-the-program-13
  test('two instances together take the limit, and no more than a second’s deliveries beyond it', () => {
    const board = instancesOf({ perMinute: 600, instances: 2 });
    const each = 450;
    const answers = Array.from({ length: 2 * 5 * each }, (_, index) => {
      board.at((index * MINUTE_MS) / (2 * each));
      return board.deliver(index % 2);
    });
    expect(answers.filter(Boolean).length).toBeGreaterThanOrEqual(5 * 600);
    expect(board.mostInAMinute()).toBeLessThanOrEqual(600 + 2 * ((2 * each) / 60));
  });

  test.each([
    ['evenly', 2],
    ['one to nine', 10],
  ])('two instances that get the limit together, %s, are refused nothing', (_name, share) => {
    const board = instancesOf({ perMinute: 600, instances: 2 });
    const answers = Array.from({ length: 5 * 600 }, (_, index) => {
      board.at(index * 100);
      return board.deliver(index % share === 0 ? 0 : 1);
    });
    expect(answers.filter(Boolean)).toHaveLength(5 * 600);
  });
});
