import { expect, test } from 'vitest';
import { createOrderTurns } from './order-turns.ts';

const LONG_MS = 10_000;
const place = (position: number) => ({ workflowId: 'workflow', position });
const SETTLED = { isSettled: true };

/** `gone`: positions in the order in which they stopped waiting. */
function waitingFor(turns: ReturnType<typeof createOrderTurns>, positions: number[], withinMs = LONG_MS) {
  const gone: number[] = [];
  const all = positions.map(async (position) => {
    await turns.whenFirstHere(place(position), withinMs);
    gone.push(position);
  });
  return { gone, all: Promise.all(all) };
}
/** Lets pending promise callbacks run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('lets the first user pass, and the others wait for those before them', async () => {
  const turns = createOrderTurns();
  for (const position of [2, 0, 1]) turns.enter(place(position));
  const { gone, all } = waitingFor(turns, [2, 1, 0]);
  await turn();
  expect(gone).toEqual([0]);
  turns.leave(place(0), SETTLED);
  await turn();
  expect(gone).toEqual([0, 1]);
  turns.leave(place(1), { isSettled: false });
  await all;
  expect(gone).toEqual([0, 1, 2]);
});

test('stops waiting for a slow user after the given time', async () => {
  const turns = createOrderTurns();
  for (const position of [0, 1]) turns.enter(place(position));
  const { gone, all } = waitingFor(turns, [1], 20);
  await turn();
  expect(gone).toEqual([]);
  await all;
  expect(gone).toEqual([1]);
});

test('does not make users of different workflows wait for each other', async () => {
  const turns = createOrderTurns();
  turns.enter({ workflowId: 'another', position: 0 });
  turns.enter(place(1));
  await turns.whenFirstHere(place(1), LONG_MS);
  expect(turns.isNext(place(1))).toBe(false);
});

test('gives a user the turn when all before have settled here, in any order, or the database says so', () => {
  const turns = createOrderTurns();
  for (const position of [0, 1, 2, 3, 7]) turns.enter(place(position));
  expect(turns.isNext(place(0))).toBe(true);
  turns.leave(place(1), SETTLED);
  expect(turns.isNext(place(2))).toBe(false);
  turns.leave(place(0), SETTLED);
  expect(turns.isNext(place(2))).toBe(true);
  expect(turns.isNext(place(3))).toBe(false);
  turns.leave(place(3), SETTLED);
  turns.noteNext(place(3));
  expect(turns.isNext(place(4))).toBe(true);
  expect(turns.isNext(place(7))).toBe(false);
  turns.noteNext(place(7));
  expect(turns.isNext(place(7))).toBe(true);
});

test('counts a user whose try failed as settled only when the database says so', () => {
  const turns = createOrderTurns();
  for (const position of [0, 1]) turns.enter(place(position));
  turns.leave(place(0), { isSettled: false });
  expect(turns.isNext(place(1))).toBe(false);
  turns.noteNext(place(1));
  expect(turns.isNext(place(1))).toBe(true);
});

test('forgets a workflow when its last user has left', () => {
  const turns = createOrderTurns();
  turns.enter(place(0));
  turns.leave(place(0), SETTLED);
  turns.enter(place(1));
  expect(turns.isNext(place(1))).toBe(false);
});
