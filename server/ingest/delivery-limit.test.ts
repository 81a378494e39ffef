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

test('allows a webhook its deliveries a minute, then none, then as many again', () => {
  const { deliver, advance } = limitOf(3);
  expect([1, 2, 3, 4, 5].map(() => deliver('a'))).toEqual([true, true, true, false, false]);
  advance(59_999);
  expect(deliver('a')).toBe(false);
  advance(1);
  expect([1, 2, 3, 4].map(() => deliver('a'))).toEqual([true, true, true, false]);
});

test('counts each webhook separately', () => {
  const { deliver } = limitOf(1);
  expect([deliver('a'), deliver('b'), deliver('a'), deliver('b')]).toEqual([true, true, false, false]);
});

test('counts a delivery once when its commit is retried', () => {
  const { limit } = limitOf(1);
  const [first, second] = [{}, {}];
  expect([limit('a', first), limit('a', first), limit('a', second), limit('a', first)]).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

test('treats zero as no limit', () => {
  const { deliver } = limitOf(0);
  expect(Array.from({ length: 10_000 }, () => deliver('a')).every(Boolean)).toBe(true);
});

test('counts what other instances took as of the last lookup, and looks up once a second', () => {
  const { deliver, limit, advance } = limitOf(3);
  expect(limit.outdated(['a', 'b']).hookIds).toEqual(['a', 'b']);
  limit.outdated(['a']).learn('a', 2);
  expect(limit.outdated(['a', 'b']).hookIds).toEqual(['b']);
  expect([deliver('a'), deliver('a')]).toEqual([true, false]);
  advance(999);
  expect(limit.outdated(['a']).hookIds).toEqual([]);
  advance(1);
  expect(limit.outdated(['a']).hookIds).toEqual(['a']);
  // The other instance's first delivery is a minute old by now. The log holds two, one of them this instance's own.
  limit.outdated(['a']).learn('a', 2);
  expect([deliver('a'), deliver('a')]).toEqual([true, false]);
});

test('counts a delivery once while its log line is being written', () => {
  const { deliver, limit } = limitOf(4);
  expect(deliver('a')).toBe(true);
  const { learn } = limit.outdated(['a']);
  expect(deliver('a')).toBe(true);
  // The second delivery may or may not have been in the log when it was read.
  learn('a', 2);
  expect(deliver('a')).toBe(true);
  limit.outdated(['a']).learn('a', 1);
  expect([deliver('a'), deliver('a')]).toEqual([true, false]);
});

test('still treats deliveries as its own when they leave the window while the log is read', () => {
  const { deliver, limit, advance } = limitOf(1);
  expect(deliver('a')).toBe(true);
  advance(59_900);
  const { learn } = limit.outdated(['a']);
  advance(100);
  learn('a', 1);
  expect([deliver('a'), deliver('a')]).toEqual([true, false]);
});

test('keeps accepting deliveries when the clock goes back', () => {
  const { deliver, advance } = limitOf(2);
  advance(3_600_000);
  expect([deliver('a'), deliver('a'), deliver('a')]).toEqual([true, true, false]);
  advance(-3_600_000);
  expect([deliver('a'), deliver('a'), deliver('a')]).toEqual([true, true, false]);
});

describe('over several minutes', () => {
  const MINUTE_MS = 60_000;

  /** Instances that share a log and a clock; each reads the log when due, before it judges a delivery. */
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
      /** The most deliveries taken within any minute. */
      mostInAMinute: () =>
        log.reduce((most, at, index) => {
          const first = log.findIndex((earlier) => earlier > at - MINUTE_MS);
          return Math.max(most, index - first + 1);
        }, 0),
    };
  }

  type Instances = ReturnType<typeof instancesOf>;

  /** Sends `perMinute` deliveries evenly over each minute and returns how many were taken. */
  function send(to: Instances, options: { perMinute: number; minutes: number; fromMs?: number }): number {
    const { perMinute, minutes, fromMs = 0 } = options;
    return Array.from({ length: perMinute * minutes }, (_, index) => {
      to.at(fromMs + (index * MINUTE_MS) / perMinute);
      return to.deliver();
    }).filter(Boolean).length;
  }

  // Requirements: settings-of-the-program-13
  test.each([450, 599, 600])('refuses nothing at %d of 600 deliveries a minute', (perMinute) => {
    const board = instancesOf({ perMinute: 600 });
    expect(send(board, { perMinute, minutes: 5 })).toBe(5 * perMinute);
  });

  // Requirements: settings-of-the-program-13
  test('allows a burst of the whole limit again a minute later', () => {
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
    // The count drops its oldest second as a whole.
    expect(board.mostInAMinute()).toBeLessThanOrEqual(600 + 900 / 60);
  });

  test('restores the whole limit to a webhook that was refused for long and then sends less', () => {
    const board = instancesOf({ perMinute: 600 });
    send(board, { perMinute: 6_000, minutes: 2 });
    const fromMs = 3 * MINUTE_MS;
    expect(send(board, { perMinute: 600, minutes: 2, fromMs })).toBe(2 * 600);
  });

  test('continues the count after a restart', () => {
    const board = instancesOf({ perMinute: 600 });
    expect(send(board, { perMinute: 600, minutes: 2 })).toBe(1_200);
    board.restart();
    expect(send(board, { perMinute: 600, minutes: 2, fromMs: 2 * MINUTE_MS })).toBe(1_200);
    board.restart();
    expect(send(board, { perMinute: 6_000, minutes: 1, fromMs: 4 * MINUTE_MS })).toBeLessThanOrEqual(610);
  });

  // Requirements: settings-of-the-program-13
  test('lets two instances together take the limit, plus at most a second’s deliveries', () => {
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
  ])('refuses nothing when two instances share the limit %s', (_name, share) => {
    const board = instancesOf({ perMinute: 600, instances: 2 });
    const answers = Array.from({ length: 5 * 600 }, (_, index) => {
      board.at(index * 100);
      return board.deliver(index % share === 0 ? 0 : 1);
    });
    expect(answers.filter(Boolean)).toHaveLength(5 * 600);
  });
});
