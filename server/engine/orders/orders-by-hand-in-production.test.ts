import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GenerateAnswer } from '#contract/position-generator.ts';
import { firstCases } from '#test/app/in-turn.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';

/** The whole program in production on paper, where no real money moves. */
describe('in paper mode in production', () => {
  let board: World;
  let sender: TestSender;

  beforeAll(async () => {
    board = await startWorld({
      engine: true,
      config: {
        appEnv: 'production',
        exchangeMode: 'paper',
        autoTrade: { enabled: true, configured: true },
        deploymentId: 'deployment-1',
        verifyFirstMs: 200,
        verifySecondMs: 200,
        cancelDelayMs: 50,
      },
    });
    sender = await createSender({ app: board.app, client: board.admin });
  });
  afterAll(() => board.close());

  async function signal(token: string) {
    const time = new Date().toISOString();
    return (await sender.signal({ symbol: `${token}USDT`, price: '3000', time })).json<{ id: string }>().id;
  }

  // Requirements: trading-calculator-and-execution-15
  test.each(
    firstCases([
      ['/api/position-maker/submit-order', 'ETH'],
      ['/api/individual-position-maker/process', 'SOL'],
    ]),
  )(
    '%s places a calculated order, which is shown like any other trade and marked as manual',
    async (path, token) => {
      const { user, client } = await board.createUser();
      await client.put('/api/user-settings', { positionSizingMethod: 'Risk Management' });
      const signalId = await signal(token);
      const generated = await board.admin.post('/api/internal/position-generator/generate', {
        signalId,
        userId: user.id,
      });
      const calculation = generated.json<GenerateAnswer>();
      expect(calculation, generated.body).toMatchObject({ success: true, isEstimate: false });
      const { positionGeneratorLogId } = calculation;
      const prepared = await board.admin.post('/api/position-maker/prepare', { positionGeneratorLogId });
      expect(prepared.json().data.validation.preAssessment).toEqual({ valid: true, reason: null });

      const submitted = await board.admin.post(path, { positionGeneratorLogId });
      expect([submitted.statusCode, submitted.json()], submitted.body).toMatchObject([
        200,
        { success: true, fillStatus: 'filled' },
      ]);
      const trades = (await board.admin.get(`/api/signals/${signalId}/trades`)).json();
      expect(trades).toMatchObject([{ success: true }]);
      const { signals } = (await board.admin.get(`/api/signals?token=${token}`)).json();
      expect(signals).toMatchObject([{ totalTrades: 1, successfulTrades: 1 }]);
      const { rows } = await board.database.pool.query(
        'select user_id, trigger_type from trades where signal_id = $1',
        [signalId],
      );
      expect(rows).toEqual([{ user_id: user.id, trigger_type: 'manual' }]);
      const { open } = (await board.admin.get('/api/positions')).json();
      expect(open).toContainEqual(expect.objectContaining({ userId: user.id, token }));
      const again = await board.admin.post(path, { positionGeneratorLogId });
      expect(again.statusCode).toBe(409);
    },
  );

  test('refuses the manual trigger in a deployment', async () => {
    const triggered = await board.admin.post('/api/trigger-automation', { signalId: await signal('XRP') });
    expect([triggered.statusCode, triggered.json()]).toEqual([
      403,
      { message: 'Manual triggers disabled in production' },
    ]);
  });
});
