import { expect, test } from 'vitest';
import { createTestDatabase } from '#test/app/test-database.ts';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { createHttpApp } from './create-http-app.ts';
import { registerHealthRoutes } from './health.ts';

// Requirements: settings-of-the-program-10
test('readiness is 200 when every part is ready and 503 when one is not', async () => {
  const { database, close } = await createTestDatabase();
  const app = await createHttpApp({
    config: { trustProxy: [], metricsToken: null, publicUrl: null },
    untrustedProxies: { note() {} },
    log: createLog({ level: 'silent' }),
    clock: systemClock,
    db: database.db,
  });
  let running = true;
  registerHealthRoutes(app, {
    readiness: async () => ({ ready: running, checks: { database: true, positionMaker: running } }),
  });
  const ready = await app.inject('/readyz');
  expect(ready.statusCode).toBe(200);
  expect(ready.json()).toEqual({ ready: true, checks: { database: true, positionMaker: true } });
  running = false;
  const waiting = await app.inject('/readyz');
  expect(waiting.statusCode).toBe(503);
  expect(waiting.json()).toEqual({ ready: false, checks: { database: true, positionMaker: false } });
  expect((await app.inject('/healthz')).statusCode).toBe(200);
  await app.close();
  await close();
});
