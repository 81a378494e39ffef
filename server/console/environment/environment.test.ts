import { describe, expect, onTestFinished, test } from 'vitest';
import type { AttentionAnswer } from '#contract/attention.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { startWorld, type World } from '#test/world.ts';

// Requirements: accounts-fields-11, accounts-calls-18, trading-fields-13, trading-calls-15
test('a production deployment in live mode reports its mode and ids', async () => {
  const board = await startWorld({
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
  const board = await startWorld({
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
  const waiting = await startWorld();
  expect((await waiting.anonymous.get('/readyz')).statusCode).toBe(503);
  await waiting.close();

  const board = await startWorld({ engine: true });
  expect((await board.admin.get('/api/environment/status')).json()).toMatchObject({
    canProcessSignals: true,
  });
  expect((await board.anonymous.get('/readyz')).json()).toEqual({
    ready: true,
    checks: { database: true, positionMaker: true, disk: true },
  });
  await board.close();
});

// Requirements: settings-of-the-program-10
describe('the disk with the data folder', () => {
  const disk = { bavail: 0, blocks: 1_000 };
  const read = { folder: '' };

  async function startOn(config: { databaseUrl?: string } = {}) {
    const board = await startWorld({
      engine: true,
      config: { dataDir: '/not/there/yet', ...config },
      readDisk: async (folder) => {
        if (folder !== '/not') throw Object.assign(new Error('no such folder'), { code: 'ENOENT' });
        read.folder = folder;
        return disk;
      },
    });
    onTestFinished(board.close);
    return board;
  }
  const readyOf = async (board: World) => {
    const answer = await board.anonymous.get('/readyz');
    return [answer.statusCode, answer.json().ready, answer.json().checks.disk];
  };
  const conditionsOf = async (board: World) =>
    (await board.admin.get('/api/attention'))
      .json<AttentionAnswer>()
      .conditions.filter(({ code }) => code === 'disk_low');

  test('under 5 % free needs attention while alerts are still taken, and ends readiness under 1 %', async () => {
    const board = await startOn();
    disk.bavail = 50;
    expect(await readyOf(board)).toEqual([200, true, true]);
    expect(await conditionsOf(board)).toEqual([]);
    expect((await board.anonymous.get('/metrics')).body).toContain('signal_board_disk_free_ratio 0.05\n');
    for (const free of [49, 10]) {
      disk.bavail = free;
      expect(await readyOf(board)).toEqual([200, true, false]);
    }
    expect(await conditionsOf(board)).toMatchObject([
      {
        severity: 'critical',
        text: expect.stringMatching(/^Only 1\.0 % of the disk with \/not\/there\/yet on /),
      },
    ]);
    disk.bavail = 9;
    expect(await readyOf(board)).toEqual([503, false, false]);
    expect((await board.admin.get('/api/environment/status')).json()).toMatchObject({
      canProcessSignals: true,
    });
    disk.bavail = 500;
    expect(await readyOf(board)).toEqual([200, true, true]);
    expect(await conditionsOf(board)).toEqual([]);
    expect(read.folder).toBe('/not');
  });

  testEveryCase('does not end the readiness of an instance whose database is elsewhere', async () => {
    const board = await startOn({ databaseUrl: 'postgres://elsewhere/board' });
    disk.bavail = 0;
    expect(await readyOf(board)).toEqual([200, true, false]);
    expect(await conditionsOf(board)).toHaveLength(1);
  });

  testEveryCase('needs attention while its free space cannot be read', async () => {
    const board = await startWorld({
      engine: true,
      readDisk: () => Promise.reject(new Error('input/output error')),
    });
    onTestFinished(board.close);
    expect(await readyOf(board)).toEqual([200, true, false]);
    expect(await conditionsOf(board)).toMatchObject([{ text: expect.stringMatching(/cannot be read\.$/) }]);
    expect((await board.anonymous.get('/metrics')).body).not.toContain('\nsignal_board_disk_free_ratio ');
  });
});
