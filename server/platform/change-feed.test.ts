import { expect, inject, test, vi } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { createTestDatabase } from '#test/app/test-database.ts';
import { startDatabaseProxy } from '#test/faults/database-proxy.ts';
import { createChangeFeed } from './change-feed.ts';
import { createLog } from './log.ts';

test('reports a reset connection as a gap, and a longer loss as away and then as a gap', async () => {
  const own = await createTestDatabase();
  const proxy = await startDatabaseProxy(inject('testServer'));
  const { rows } = await own.database.pool.query<{ name: string }>('select current_database() as name');
  const feed = createChangeFeed({
    connection: {
      ...inject('testServer'),
      host: '127.0.0.1',
      port: proxy.port,
      database: rows[0]?.name ?? '',
    },
    clock: systemClock,
    log: createLog({ level: 'silent' }),
  });
  const [onMessage, onGap, onAway] = [vi.fn(), vi.fn(), vi.fn()];
  try {
    await feed.subscribe({ onMessage, onGap, onAway });
    proxy.reset();
    await vi.waitFor(() => expect(onGap).toHaveBeenCalledTimes(1), 5_000);
    expect(onAway).not.toHaveBeenCalled();

    await proxy.refuse();
    await vi.waitFor(() => expect(onAway).toHaveBeenCalledTimes(1), 5_000);
    expect(onGap).toHaveBeenCalledTimes(1);
    await proxy.accept();
    await vi.waitFor(() => expect(onGap).toHaveBeenCalledTimes(2), 10_000);
    expect(onAway).toHaveBeenCalledTimes(1);
  } finally {
    await feed.close();
    await proxy.close();
    await own.close();
  }
});
