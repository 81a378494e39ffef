import { eq } from 'drizzle-orm';
import { afterAll, describe, expect, test } from 'vitest';
import type { TradingHaltsAnswer, TradingHaltView } from '#contract/trading-halts.ts';
import { tradingHalts } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { openStream } from '#test/app/test-events.ts';
import { startWorld } from '#test/world.ts';
import { clearHalts, findHalt, startHalt } from './trading-halts.store.ts';

const CLEARED = { clearedAt: new Date('2026-05-04T11:00:00Z'), clearedHow: 'The position is closed' };

let tokens = 0;

const board = await startWorld();
const [halted, other] = [await board.createUser(), await board.createUser()];
afterAll(() => board.close());

async function halt(changes: Partial<typeof tradingHalts.$inferInsert> = {}): Promise<string> {
  tokens += 1;
  const id = timeOrderedId();
  const token = `T${tokens}`;
  await board.deps.db.insert(tradingHalts).values({
    id,
    userId: halted.user.id,
    exchangePlatform: 'Bitget',
    token,
    kind: 'unprotected',
    reason: `The ${token} position on Bitget has no stop loss`,
    since: new Date('2026-05-04T10:00:00Z'),
    ...changes,
  });
  return id;
}

const all = async () => (await board.admin.get('/api/admin/trading-halts')).json<TradingHaltsAnswer>();
const resume = (id: string) => board.admin.post(`/api/admin/trading-halts/${id}/resume`, {});

describe('halts', () => {
  test('are all listed for administrators, and only their own for users', async () => {
    const id = await halt({ since: new Date('2026-05-04T09:00:00Z') });
    const [first] = (await all()).halts;
    expect(first).toEqual({
      id,
      userId: halted.user.id,
      username: halted.username,
      exchangePlatform: 'Bitget',
      token: `T${tokens}`,
      tradeId: null,
      kind: 'unprotected',
      reason: `The T${tokens} position on Bitget has no stop loss`,
      since: '2026-05-04T09:00:00.000Z',
      clearedAt: null,
      clearedHow: null,
      endedAt: null,
      endedBy: null,
    });
    expect((await halted.client.get('/api/my-trading-halts')).json()).toEqual({ halts: [first] });
    expect((await other.client.get('/api/my-trading-halts')).json()).toEqual({ halts: [] });
  });

  test('are limited to one per position', async () => {
    await halt({ token: 'ONE' });
    await expect(halt({ token: 'ONE' })).rejects.toThrow();
    await halt({ token: 'ONE', exchangePlatform: 'Bybit' });
    await halt({ token: 'ONE', userId: other.user.id });
  });

  test('become uncleared when started again, and change only from unverified to unprotected', async () => {
    const { audit, db } = board.deps;
    const user = await board.createUser();
    const position = { userId: user.user.id, exchangePlatform: 'Bitget', token: 'AGAIN' };
    const now = new Date('2026-05-04T12:00:00Z');
    const start = (kind: 'unprotected' | 'unverified') =>
      db.transaction((tx) => startHalt(tx, { ...position, kind, reason: kind, now, tradeId: null, audit }));
    expect(await start('unverified')).toBe(true);
    expect(await start('unverified')).toBe(false);
    expect(await start('unprotected')).toBe(true);
    expect(await start('unverified')).toBe(false);
    await db.transaction((tx) =>
      clearHalts(tx, { positions: [{ ...position, how: 'The position is closed' }], now, audit }),
    );
    expect(await findHalt(db, user.user.id)).toMatchObject({ kind: 'unprotected', clearedAt: now });
    expect(await start('unprotected')).toBe(true);
    expect(await findHalt(db, user.user.id)).toMatchObject({ reason: 'unprotected', clearedAt: null });
    expect((await all()).halts.filter(({ userId }) => userId === user.user.id)).toHaveLength(1);
  });

  test('are announced to administrators and to their own user', async () => {
    const origin = await board.app.listen({ host: '127.0.0.1', port: 0 });
    const clients = [board.admin, halted.client, other.client];
    const streams = await Promise.all(clients.map(({ cookie }) => openStream(origin, cookie)));
    try {
      for (const stream of streams) {
        await stream.wait(({ heard }) => heard.some(({ event }) => event === 'ready'));
      }
      const id = await halt();
      const [admin, own, others] = streams;
      for (const stream of [admin, own]) {
        expect(await stream?.wait((one) => one.changes()[0])).toEqual({
          topic: 'trading-halts',
          userId: halted.user.id,
        });
      }
      await board.deps.db.update(tradingHalts).set(CLEARED).where(eq(tradingHalts.id, id));
      await own?.wait((one) => one.changes().length === 2);
      expect(others?.changes()).toEqual([]);
    } finally {
      for (const stream of streams) stream.close();
    }
  });
});

describe('resuming', () => {
  test('is refused until the exchange shows the position closed or protected', async () => {
    const id = await halt();
    expectAnswer(await resume(id), 409, 'The exchange does not show the position closed or protected yet');
    expect((await all()).halts.map((one) => one.id)).toContain(id);
  });

  test('ends a cleared halt and records the administrator; after the last halt the user trades again', async () => {
    const user = await board.createUser();
    const id = await halt({ ...CLEARED, userId: user.user.id });
    const second = await halt({ ...CLEARED, userId: user.user.id });
    expect((await findHalt(board.deps.db, user.user.id))?.id).toBe(id);
    const answer = await resume(id);
    expect(answer.statusCode).toBe(200);
    const ended = answer.json<TradingHaltView>();
    expect(ended).toMatchObject({ id, endedBy: 'admin@example.com', clearedHow: 'The position is closed' });
    const { halts, ended: endedOnes } = await all();
    expect(halts.map((one) => one.id)).not.toContain(id);
    expect(endedOnes[0]).toEqual(ended);
    expect((await findHalt(board.deps.db, user.user.id))?.id).toBe(second);
    await resume(second);
    expect(await findHalt(board.deps.db, user.user.id)).toBeNull();
    expect(board.logged()).toContain('trading of a halted user was resumed');
  });

  test('works once: the second request gets 409', async () => {
    const id = await halt(CLEARED);
    const answers = await Promise.all([resume(id), resume(id)]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    expect(answers.find(({ statusCode }) => statusCode === 409)?.json()).toEqual({
      message: 'Trading was resumed already',
    });
  });

  test('answers 404 for an unknown halt', async () => {
    expectAnswer(await resume(UNKNOWN_ID), 404, 'Trading halt not found');
  });
});
