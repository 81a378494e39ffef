import { type TestDeliveryAnswer, testDeliveryAnswer, testDeliveryBody } from '#contract/hooks.ts';
import { idParams } from '#contract/paging.ts';
import { findOwnHook } from '#server/admin/hooks/hooks.store.ts';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { sendTestDelivery } from './send-test-delivery.ts';

/** A delivery by hand to the caller's own webhook. The answer says what the charting platform would get. */
export function registerTestDeliveryRoute(
  app: App,
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'log' | 'receiver' | 'secretBox'>,
): void {
  app.post(
    '/api/hooks/:id/test-deliveries',
    {
      config: {
        access: 'user',
        write: { stepUp: 'outsidePaper', audit: ['test delivery sent'], token: null },
      },
      schema: { params: idParams, body: testDeliveryBody, response: { 200: testDeliveryAnswer } },
    },
    async (request): Promise<TestDeliveryAnswer> => {
      const { id: userId } = getUser(request);
      const hook = await findOwnHook(deps.db, { id: request.params.id, userId });
      if (hook === null) throw new AppError('webhookNotFound');
      return sendTestDelivery(deps, request, { ...request.body, hook });
    },
  );
}
