import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';

const LONG_MS = 3_600_000;

test('a wait ends', async () => {
  await expect(systemClock.sleep(1)).resolves.toBeUndefined();
});

test('a wait ends with its signal', async () => {
  const stop = new AbortController();
  const wait = systemClock.sleep(LONG_MS, stop.signal);
  stop.abort();
  await expect(wait).rejects.toThrow('aborted');
});

test('work is done once after its time, and again and again until it is stopped', async () => {
  const done: string[] = [];
  systemClock.after(1, () => done.push('once'));
  const stop = systemClock.every(1, () => done.push('again'));
  await expect.poll(() => done.filter((one) => one === 'again').length).toBeGreaterThan(2);
  stop();
  expect(done.filter((one) => one === 'once')).toHaveLength(1);
});

test('cancelled work is not done', async () => {
  const done: string[] = [];
  systemClock.after(1, () => done.push('cancelled'))();
  systemClock.every(1, () => done.push('stopped'))();
  await systemClock.sleep(2);
  expect(done).toEqual([]);
});

test('a deadline aborts with a TimeoutError', async () => {
  const signal = systemClock.deadline(1);
  await expect.poll(() => signal.aborted).toBe(true);
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});
