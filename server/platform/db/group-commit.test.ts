import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { createGroupCommit } from './group-commit.ts';

class ItemFault extends Error {}
class TooMany extends Error {}

/** A database whose commits end when the test says so. */
function createCommits(options: Partial<Parameters<typeof createGroupCommit<string, string>>[0]> = {}) {
  const commits: { items: string[]; succeed(): Promise<void>; fail(error: Error): Promise<void> }[] = [];
  const answers: string[] = [];
  const group = createGroupCommit<string, string>({
    clock: systemClock,
    commit: (items) =>
      new Promise((resolve, reject) => {
        commits.push({
          items,
          succeed: () => settled(() => resolve(items.map((item) => `stored ${item}`))),
          fail: (error) => settled(() => reject(error)),
        });
      }),
    maxItems: 100,
    lanes: 1,
    besideItems: 100,
    besideAfterMs: 0,
    enough: 0,
    laneMs: 60_000,
    maxStuck: 1,
    onStuck: () => answers.push('stuck'),
    isItemFault: (error) => error instanceof ItemFault,
    refuseAbove: { waiting: 100, error: () => new TooMany() },
    ...options,
  });
  const add = (item: string) =>
    group.add(item).then(
      (result) => answers.push(result),
      (error: Error) => answers.push(`${item}: ${error.message || error.constructor.name}`),
    );
  const commit = (index: number) => {
    const found = commits[index];
    if (found === undefined) throw new Error(`there is no commit ${index}`);
    return found;
  };
  return { group, commits, commit, add, answers, taken: () => commits.map(({ items }) => items) };
}

/** Calls `act` and waits until all its immediate effects have happened. */
async function settled(act: () => void): Promise<void> {
  act();
  await new Promise((resolve) => setImmediate(resolve));
}

test('commits a lone item immediately', () => {
  const { add, taken } = createCommits();
  add('a');
  expect(taken()).toEqual([['a']]);
});

test('commits items that arrive during a commit together and in order', async () => {
  const { add, taken, commit, answers } = createCommits();
  for (const item of ['a', 'b', 'c']) add(item);
  expect(taken()).toEqual([['a']]);
  await commit(0).succeed();
  add('d');
  expect(taken()).toEqual([['a'], ['b', 'c']]);
  expect(answers).toEqual(['stored a']);
  await commit(1).succeed();
  await commit(2).succeed();
  expect(taken()).toEqual([['a'], ['b', 'c'], ['d']]);
  expect(answers).toEqual(['stored a', 'stored b', 'stored c', 'stored d']);
});

test('puts at most maxItems items in a commit', async () => {
  const { add, taken, commit } = createCommits({ maxItems: 2 });
  for (const item of ['a', 'b', 'c', 'd']) add(item);
  await commit(0).succeed();
  await commit(1).succeed();
  expect(taken()).toEqual([['a'], ['b', 'c'], ['d']]);
});

test('commits in parallel, up to the number of lanes', async () => {
  const { add, taken, commit, answers } = createCommits({ lanes: 2 });
  for (const item of ['a', 'b', 'c', 'd']) add(item);
  expect(taken()).toEqual([['a'], ['b']]);
  await commit(1).succeed();
  expect(answers).toEqual(['stored b']);
  expect(taken()).toEqual([['a'], ['b'], ['c', 'd']]);
});

test('opens another lane only when a commit takes long or enough items wait', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { add, taken, commit } = createCommits({ lanes: 2, besideAfterMs: 30, besideItems: 3 });
  for (const item of ['a', 'b']) add(item);
  expect(taken()).toEqual([['a']]);
  await commit(0).succeed();
  expect(taken()).toEqual([['a'], ['b']]);
  for (const item of ['c', 'd']) add(item);
  vi.advanceTimersByTime(29);
  expect(taken()).toEqual([['a'], ['b']]);
  vi.advanceTimersByTime(1);
  expect(taken()).toEqual([['a'], ['b'], ['c', 'd']]);
  await commit(1).succeed();
  await commit(2).succeed();
  for (const item of ['e', 'f', 'g', 'h']) add(item);
  expect(taken().slice(3)).toEqual([['e'], ['f', 'g', 'h']]);
});

test('sets one wake-up for all items that wait beside a commit', async () => {
  let wakeUps = 0;
  const after = (ms: number, work: () => void) => {
    if (ms <= 50) wakeUps += 1;
    return systemClock.after(ms, work);
  };
  const { add, commit, answers } = createCommits({
    clock: { ...systemClock, after },
    lanes: 2,
    besideAfterMs: 50,
  });
  for (const item of ['a', 'b', 'c', 'd']) add(item);
  expect(wakeUps).toBe(1);
  await commit(0).succeed();
  await commit(1).succeed();
  expect(answers).toHaveLength(4);
});

test('starts the next commit before it answers the last one', async () => {
  const { group, add, taken, commit } = createCommits();
  const takenWhenAnswered = group.add('a').then(() => taken());
  add('b');
  await commit(0).succeed();
  expect(await takenWhenAnswered).toEqual([['a'], ['b']]);
});

test('gathers for two turns of the event loop after a commit when few items wait', async () => {
  const { add, taken, commit, answers } = createCommits({ enough: 3 });
  for (const item of ['a', 'b']) add(item);
  await commit(0).succeed();
  expect(answers).toEqual(['stored a']);
  add('c');
  expect(taken()).toEqual([['a']]);
  await vi.waitFor(() => expect(taken()).toEqual([['a'], ['b', 'c']]));
});

test('commits immediately after a commit when enough items wait', async () => {
  const { add, taken, commit } = createCommits({ enough: 3 });
  for (const item of ['a', 'b', 'c']) add(item);
  await commit(0).succeed();
  expect(taken()).toEqual([['a']]);
  add('d');
  expect(taken()).toEqual([['a'], ['b', 'c', 'd']]);
  for (const item of ['e', 'f', 'g']) add(item);
  await commit(1).succeed();
  expect(taken()).toEqual([['a'], ['b', 'c', 'd'], ['e', 'f', 'g']]);
});

test('commits a lone item immediately some time after a commit', async () => {
  const { add, taken, commit } = createCommits({ enough: 3 });
  add('a');
  await commit(0).succeed();
  await settled(() => {});
  await settled(() => {});
  add('b');
  expect(taken()).toEqual([['a'], ['b']]);
});

describe('items that may wait', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  const patient = { isPatient: (item: string) => item.startsWith('patient'), waitMs: 200, fromItems: 3 };

  /** A group that has just committed as many items as make it busy. */
  async function busy() {
    const group = createCommits({ patient });
    for (const index of [0, 1, 2]) {
      group.add(`urgent ${index}`);
      await group.commit(index).succeed();
    }
    return { ...group, latest: () => group.taken().slice(3) };
  }

  test('do not wait when few come', () => {
    const { add, taken } = createCommits({ patient });
    add('patient');
    expect(taken()).toEqual([['patient']]);
  });

  test('under load go with the next item that may not', async () => {
    const { add, latest } = await busy();
    add('patient 1');
    add('patient 2');
    vi.advanceTimersByTime(150);
    expect(latest()).toEqual([]);
    add('urgent');
    expect(latest()).toEqual([['patient 1', 'patient 2', 'urgent']]);
  });

  test('under load wait no longer than allowed', async () => {
    const { add, latest } = await busy();
    add('patient 1');
    vi.advanceTimersByTime(100);
    add('patient 2');
    vi.advanceTimersByTime(99);
    expect(latest()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(latest()).toEqual([['patient 1', 'patient 2']]);
  });
});

test('halves a batch until only the item that the database refuses fails', async () => {
  const { add, taken, commit, answers } = createCommits();
  for (const item of ['first', 'a', 'b', 'bad', 'c', 'd', 'e', 'f', 'g']) add(item);
  await commit(0).succeed();
  await commit(1).fail(new ItemFault('one of you'));
  await commit(2).fail(new ItemFault('one of you'));
  await commit(3).succeed();
  await commit(4).fail(new ItemFault('one of you'));
  await commit(5).fail(new ItemFault('you'));
  await commit(6).succeed();
  await commit(7).succeed();
  expect(taken().slice(2)).toEqual([
    ['a', 'b', 'bad', 'c'],
    ['a', 'b'],
    ['bad', 'c'],
    ['bad'],
    ['c'],
    ['d', 'e', 'f', 'g'],
  ]);
  expect(answers).toEqual([
    'stored first',
    ...['stored a', 'stored b', 'bad: you', 'stored c'],
    ...['stored d', 'stored e', 'stored f', 'stored g'],
  ]);
});

test('fails the whole batch immediately in an outage, and tries the next batch again', async () => {
  const { add, taken, commit, answers } = createCommits();
  for (const item of ['a', 'b', 'c']) add(item);
  await commit(0).fail(new Error('away'));
  add('d');
  await commit(1).fail(new Error('still away'));
  await commit(2).succeed();
  expect(taken()).toEqual([['a'], ['b', 'c'], ['d']]);
  expect(answers).toEqual(['a: away', 'b: still away', 'c: still away', 'stored d']);
});

test('commits the halves side by side where the items may wait for locks', async () => {
  const { add, taken, commit, answers } = createCommits({ halvesSideBySide: true });
  for (const item of ['first', 'slow', 'b', 'c', 'd']) add(item);
  await commit(0).succeed();
  await commit(1).fail(new ItemFault('a lock'));
  expect(taken().slice(2)).toEqual([
    ['slow', 'b'],
    ['c', 'd'],
  ]);
  await commit(3).succeed();
  expect(answers).toEqual(['stored first', 'stored c', 'stored d']);
  await commit(2).succeed();
  expect(answers).toHaveLength(5);
});

test('fails the rest without trying it when an outage begins while a batch is halved', async () => {
  const { add, taken, commit, answers } = createCommits();
  for (const item of ['first', 'a', 'b', 'c', 'd']) add(item);
  await commit(0).succeed();
  await commit(1).fail(new ItemFault('one of you'));
  await commit(2).fail(new Error('away'));
  expect(taken()).toEqual([['first'], ['a', 'b', 'c', 'd'], ['a', 'b']]);
  expect(answers).toEqual(['stored first', 'a: away', 'b: away', 'c: away', 'd: away']);
});

test('refuses an item immediately when too many wait, and serves the others', async () => {
  const { add, commit, answers, group } = createCommits({
    refuseAbove: { waiting: 2, error: () => new TooMany() },
  });
  for (const item of ['a', 'b', 'c']) add(item);
  await expect(group.add('d')).rejects.toThrow(TooMany);
  await commit(0).succeed();
  add('e');
  await commit(1).succeed();
  await commit(2).succeed();
  expect(answers).toEqual(['stored a', 'stored b', 'stored c', 'stored e']);
});

test('fails the items without an answer when a commit answers too few', async () => {
  const { group } = createCommits({ commit: async (items) => items.slice(1) });
  await expect(group.add('a')).rejects.toThrow('the commit answered 0 of 1');
});

test('is idle once every item has been answered, failures included', async () => {
  const { group, add, commit, answers } = createCommits();
  await group.idle();
  add('a');
  add('b');
  let idle = false;
  const waiting = group.idle().then(() => {
    idle = true;
  });
  await commit(0).succeed();
  expect(idle).toBe(false);
  await commit(1).fail(new Error('away'));
  await waiting;
  expect(answers).toEqual(['stored a', 'b: away']);
});

describe('a commit that hangs', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  test('releases its lane to the next items, and still answers when it ends', async () => {
    const { add, taken, commit, answers } = createCommits({ laneMs: 100 });
    add('a');
    add('b');
    await vi.advanceTimersByTimeAsync(99);
    expect(taken()).toEqual([['a']]);
    await vi.advanceTimersByTimeAsync(1);
    expect(taken()).toEqual([['a'], ['b']]);
    await commit(1).succeed();
    await commit(0).succeed();
    expect(answers).toEqual(['stuck', 'stored b', 'stored a']);
  });

  test('makes later items wait once too many commits hang', async () => {
    const { add, taken, commit } = createCommits({ laneMs: 100, maxStuck: 1 });
    for (const item of ['a', 'b', 'c']) {
      add(item);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(taken()).toEqual([['a'], ['b']]);
    await commit(1).succeed();
    expect(taken()).toEqual([['a'], ['b'], ['c']]);
  });

  test('is awaited before the group is idle', async () => {
    const { add, group, commit } = createCommits({ laneMs: 100 });
    add('a');
    await vi.advanceTimersByTimeAsync(100);
    let isIdle = false;
    void group.idle().then(() => (isIdle = true));
    await vi.advanceTimersByTimeAsync(100);
    expect(isIdle).toBe(false);
    await commit(0).succeed();
    expect(isIdle).toBe(true);
  });
});
