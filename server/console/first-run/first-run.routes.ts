import type { FastifyRequest } from 'fastify';
import {
  type DemoSignalAnswer,
  demoSignalAnswer,
  demoSignalBody,
  firstRunAnswer,
} from '#contract/first-run.ts';
import type { TestDeliveryAnswer } from '#contract/hooks.ts';
import type { Deps } from '#server/deps.ts';
import { sendTestDelivery, tradesRealMoney } from '#server/ingest/send-test-delivery.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { demoDeliveries, readDemoPrice } from './demo-signal.ts';
import { findHookOf, readFirstRun, readTradingUsers, signalFor } from './read-first-run.ts';

export function registerFirstRunRoutes(app: App, deps: Deps): void {
  const admin = routeOptions({ access: 'admin' });

  app.get('/api/first-run', admin({ answer: firstRunAnswer }), (request) =>
    readFirstRun(deps, { userId: getUser(request).id }),
  );

  app.post(
    '/api/first-run/demo-signal',
    admin({
      write: { stepUp: 'outsidePaper', audit: ['test delivery sent'], token: null },
      body: demoSignalBody,
      answer: demoSignalAnswer,
    }),
    (request) => sendDemoSignal(deps, request),
  );
}

/** Sends a candle and a signal that the first user who trades accepts, through the caller's own webhook. */
async function sendDemoSignal(deps: Deps, request: FastifyRequest): Promise<DemoSignalAnswer> {
  if (tradesRealMoney(deps.config)) throw new AppError('testDeliveryInLiveTrading');
  const hook = required(await findHookOf(deps.db, getUser(request).id), 'webhookNotFound');
  const { able, ready } = await readTradingUsers(deps);
  const follower = ready[0] ?? able[0];
  const price = await readDemoPrice(deps, follower?.settings?.exchangePlatform);
  const { candle, signal } = demoDeliveries({
    ...signalFor(follower?.settings),
    price,
    now: deps.clock.now(),
  });
  // The candle first: the signal is sized by its ATR.
  storedId(await sendTestDelivery(deps, request, { hook, kind: 'candle', payload: candle }));
  const sent = await sendTestDelivery(deps, request, { hook, kind: 'signal', payload: signal });
  return { signalId: storedId(sent), message: `BTC Buy at ${price} was sent with its candle` };
}

function storedId({ id, message }: TestDeliveryAnswer): string {
  if (id === null) throw new AppError('badRequest', { message });
  return id;
}
