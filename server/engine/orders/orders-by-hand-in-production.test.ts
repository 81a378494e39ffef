import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GenerateAnswer } from '#contract/position-generator.ts';
import { startTestApp, type TestApp, type TestUser } from '#test/app/test-app.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';

/** The whole program in production on paper, where no money moves. */
describe.each(['/api/position-maker/submit-order', '/api/individual-position-maker/process'])(
  'in paper mode in production, %s',
  (path) => {
    let board: TestApp;
    let sender: TestSender;
    let trader: TestUser;

    beforeAll(async () => {
      board = await startTestApp({
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
      trader = await board.createUser();
      await trader.client.put('/api/user-settings', { positionSizingMethod: 'Risk Management' });
    });
    afterAll(() => board.close());

    // Requirements: trading-calculator-and-execution-15
    test('places a calculated order, which is shown as any other trade and marked as manual', async () => {
      const answer = await sender.signal({ time: new Date().toISOString() });
      const { id: signalId } = answer.json<{ id: string }>();
      const generated = await board.admin.post('/api/internal/position-generator/generate', {
        signalId,
        userId: trader.user.id,
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
      const { signals } = (await board.admin.get('/api/signals?token=BTC')).json();
      expect(signals).toMatchObject([{ totalTrades: 1, successfulTrades: 1 }]);
      const { rows } = await board.database.pool.query('select user_id, trigger_type from trades');
      expect(rows).toEqual([{ user_id: trader.user.id, trigger_type: 'manual' }]);
      const { open } = (await board.admin.get('/api/positions')).json();
      expect(open).toMatchObject([{ userId: trader.user.id, token: 'BTC' }]);
      const again = await board.admin.post(path, { positionGeneratorLogId });
      expect(again.statusCode).toBe(409);
    });

    test('and the manual trigger stays refused in a deployment', async () => {
      const answer = await sender.signal({
        symbol: 'ETHUSDT',
        price: '3000',
        time: new Date().toISOString(),
      });
      const { id: signalId } = answer.json<{ id: string }>();
      const triggered = await board.admin.post('/api/trigger-automation', { signalId });
      expect([triggered.statusCode, triggered.json()]).toEqual([
        403,
        { message: 'Manual triggers disabled in production' },
      ]);
    });
  },
);
