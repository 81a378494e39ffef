import { expect, test } from 'vitest';
import { fakeClock, testClock } from './fake-clock.ts';

const START = '2026-05-04T10:00:00.000Z';

/** What happened, each with the second in which it happened. */
function diary(clock: ReturnType<typeof testClock>) {
  const lines: string[] = [];
  const note = (what: string) => () => {
    lines.push(`${what} at ${clock.monotonicMs() / 1_000}`);
  };
  return { lines, note };
}

test('waits end in order, each at its own time', async () => {
  const clock = testClock(START);
  const { lines, note } = diary(clock);
  void clock.sleep(2_000).then(note('two'));
  void clock.sleep(1_000).then(note('one'));
  clock.after(3_000, note('three'));
  await clock.advance(2_500);
  expect(lines).toEqual(['one at 1', 'two at 2']);
  expect(clock.now().toISOString()).toBe('2026-05-04T10:00:02.500Z');
  expect(clock.waits()).toEqual([500]);
});

test('a wait that begins when another ends can end in the same advance', async () => {
  const clock = testClock();
  const { lines, note } = diary(clock);
  void (async () => {
    for (const round of ['first', 'second']) {
      await clock.sleep(1_000);
      note(round)();
    }
  })();
  await clock.advance(2_000);
  expect(lines).toEqual(['first at 1', 'second at 2']);
});

test('repeated work is done each time until it is stopped, also from inside', async () => {
  const clock = testClock();
  const { lines, note } = diary(clock);
  const stop = clock.every(1_000, () => {
    note('look')();
    if (lines.length === 3) stop();
  });
  await clock.advance(10_000);
  expect(lines).toEqual(['look at 1', 'look at 2', 'look at 3']);
  expect(clock.waits()).toEqual([]);
});

test('a cancelled wait does not end', async () => {
  const clock = testClock();
  const { lines, note } = diary(clock);
  clock.after(1_000, note('cancelled'))();
  const stop = new AbortController();
  const wait = clock.sleep(1_000, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(wait).rejects.toThrow('stopped');
  await expect(clock.sleep(1_000, stop.signal)).rejects.toThrow('stopped');
  await clock.advance(2_000);
  expect(lines).toEqual([]);
  expect(clock.waits()).toEqual([]);
});

test('a deadline passes with the time', async () => {
  const clock = testClock();
  const signal = clock.deadline(1_000);
  await clock.advance(999);
  expect(signal.aborted).toBe(false);
  await clock.advance(1);
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('a jump ends the waits that it passes once, with the next advance', async () => {
  const clock = testClock(START);
  const { lines, note } = diary(clock);
  const stop = clock.every(1_000, note('look'));
  await clock.set('2026-05-05T10:00:00.500Z');
  expect(lines).toEqual([]);
  expect(clock.monotonicMs()).toBe(0);
  await clock.advance(500);
  expect(lines).toEqual(['look at 0']);
  await clock.advance(500);
  expect(lines).toEqual(['look at 0', 'look at 1']);
  expect(clock.now().toISOString()).toBe('2026-05-05T10:00:01.500Z');
  stop();
});

test('runs work to its end, however long it waits', async () => {
  const clock = testClock();
  const answer = clock.run(
    (async () => {
      await clock.sleep(60_000);
      await new Promise((resolve) => setImmediate(resolve));
      await clock.sleep(60_000);
      return 'done';
    })(),
  );
  expect(await answer).toBe('done');
  expect(clock.monotonicMs()).toBe(120_000);
  await expect(clock.run(clock.sleep(1).then(() => Promise.reject(new Error('no'))))).rejects.toThrow('no');
});

test('of a fake clock only the date is moved', async () => {
  const clock = fakeClock(START);
  const before = clock.monotonicMs();
  clock.advance(86_400_000);
  expect(clock.now().toISOString()).toBe('2026-05-05T10:00:00.000Z');
  expect(clock.monotonicMs() - before).toBeLessThan(86_400_000);
});
