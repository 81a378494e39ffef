import { expect, test } from 'vitest';
import { startWorld, type WorldOptions } from '#test/world.ts';

/** Sealing gives each new entry its sequence, for the last time when the program stops. */
async function unsealedAfter(options: WorldOptions): Promise<number> {
  const board = await startWorld(options);
  try {
    await board.stopProgram();
    const [row] = await board.query('select count(*)::int as count from audit_log where sequence is null');
    return row?.count;
  } finally {
    await board.close();
  }
}

test('runs a background part that its start named', async () => {
  expect(await unsealedAfter({ engine: true, background: ['audit sealing'] })).toBe(0);
});

test('a step of its stop that fails keeps no other from its turn, and is reported', async () => {
  const board = await startWorld({ engine: true, background: ['audit sealing'] });
  try {
    const { stop } = board.deps.candleWaits;
    Object.assign(board.deps.candleWaits, {
      stop() {
        stop();
        throw new Error('waits for candles do not end');
      },
    });
    await expect(board.stopProgram()).rejects.toThrow('waits for candles do not end');
    const [row] = await board.query('select count(*)::int as count from audit_log where sequence is null');
    expect(row?.count).toBe(0);
  } finally {
    await board.close().catch(() => undefined);
  }
});

test('runs no background part that its start did not name', async () => {
  expect(await unsealedAfter({ engine: true })).toBeGreaterThan(0);
});
