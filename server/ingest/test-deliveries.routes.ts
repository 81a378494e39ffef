import { type TestDeliveryAnswer, testDeliveryAnswer, testDeliveryBody } from '#contract/hooks.ts';
import { MAX_DELIVERY_BYTES } from '#contract/ingest.ts';
import { idParams } from '#contract/paging.ts';
import { findOwnHook } from '#server/admin/hooks/hooks.store.ts';
import type { Deps } from '#server/deps.ts';
import type { Config } from '#server/platform/config/config.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { sourceAddress } from '#server/platform/http/source-address.ts';
import { inTime, SEND_AGAIN } from './in-time.ts';

/** A delivery by hand to the caller's own webhook. The answer says what the charting platform would get. */
export function registerTestDeliveryRoute(
  app: App,
  deps: Pick<Deps, 'config' | 'db' | 'log' | 'receiver'>,
): void {
  app.post(
    '/api/hooks/:id/test-deliveries',
    {
      config: { access: 'user' },
      schema: { params: idParams, body: testDeliveryBody, response: { 200: testDeliveryAnswer } },
    },
    async (request): Promise<TestDeliveryAnswer> => {
      const { id: userId } = getUser(request);
      const { kind, payload } = request.body;
      const hook = await findOwnHook(deps.db, { id: request.params.id, userId });
      if (hook === null) throw new AppError('webhookNotFound');
      if (tradesRealMoney(deps.config)) throw new AppError('testDeliveryInLiveTrading');
      const body = Buffer.from(JSON.stringify(payload));
      if (body.length > MAX_DELIVERY_BYTES) throw new AppError('tooLarge');

      const sourceIp = sourceAddress(request, deps.config);
      const { keyHash } = hook;
      const outcome = await inTime(deps, deps.receiver.receiveByHash({ kind, keyHash, body, sourceIp }));
      request.log.info({ userId, webhookId: hook.id, kind, outcome: outcome.outcome }, 'test delivery');
      switch (outcome.outcome) {
        case 'stored':
          return {
            success: true,
            id: outcome.id,
            duplicate: outcome.duplicate,
            message: outcome.duplicate ? 'This delivery is stored already' : 'The delivery is stored',
            errors: [],
          };
        case 'refused':
          return {
            success: false,
            id: null,
            duplicate: false,
            message: outcome.refusal.message,
            errors: outcome.refusal.errors,
          };
        case 'limited':
        case 'not-stored':
          throw new AppError('unavailable', { message: SEND_AGAIN[outcome.outcome] });
        case 'suspended':
          throw new AppError('webhookSuspended');
        // Renewed or deleted concurrently.
        case 'unknown-key':
          throw new AppError('webhookNotFound');
      }
    },
  );
}

/** A test signal would open positions, and a test candle would place the stops of later signals. */
const tradesRealMoney = ({ exchangeMode, autoTrade }: Pick<Config, 'exchangeMode' | 'autoTrade'>): boolean =>
  exchangeMode === 'live' && autoTrade.enabled;
