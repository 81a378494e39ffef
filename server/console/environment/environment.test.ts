import { expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { startTestApp } from '#test/app/test-app.ts';

// Requirements: accounts-fields-11, accounts-calls-18, trading-fields-13, trading-calls-15
test('a production deployment in live mode reports its mode and ids', async () => {
  const board = await startTestApp({
    clock: fakeClock('2026-03-04T05:06:07.000Z'),
    config: {
      appEnv: 'production',
      exchangeMode: 'live',
      autoTrade: { enabled: true, configured: true },
      deploymentId: 'deployment-7',
      instanceId: 'instance-1',
    },
  });
  expect((await board.admin.get('/api/environment/status')).json()).toEqual({
    environment: 'production',
    nodeEnv: 'test',
    isDeployment: true,
    isProduction: true,
    autoTradeEnabled: true,
    autoTradeConfigured: true,
    canProcessSignals: false,
    serverInstanceId: 'instance-1',
    deploymentId: 'deployment-7',
    hasDeploymentId: true,
    exchangeMode: 'live',
    manualOrders: 'disabled',
    timestamp: '2026-03-04T05:06:07.000Z',
  });
  await board.close();
});

// Requirements: accounts-fields-11, settings-of-the-program-2
test('development never enables automatic trading and sends no deployment id', async () => {
  const board = await startTestApp({
    config: {
      appEnv: 'development',
      autoTrade: { enabled: true, configured: false },
      manualOrders: 'enabled',
    },
  });
  const status = (await board.admin.get('/api/environment/status')).json();
  expect(status).toMatchObject({
    environment: 'development',
    isProduction: false,
    isDeployment: false,
    hasDeploymentId: false,
    autoTradeEnabled: false,
    autoTradeConfigured: false,
    exchangeMode: 'paper',
    manualOrders: 'enabled',
  });
  expect(status).not.toHaveProperty('deploymentId');
  await board.close();
});

// Requirements: settings-of-the-program-10
test('signals can be processed and the program is ready once the engine runs', async () => {
  const waiting = await startTestApp();
  expect((await waiting.anonymous.get('/readyz')).statusCode).toBe(503);
  await waiting.close();

  const board = await startTestApp({ engine: true });
  expect((await board.admin.get('/api/environment/status')).json()).toMatchObject({
    canProcessSignals: true,
  });
  expect((await board.anonymous.get('/readyz')).json()).toEqual({
    ready: true,
    checks: { database: true, positionMaker: true },
  });
  await board.close();
});
