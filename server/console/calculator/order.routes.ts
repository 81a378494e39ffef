import type { FastifyReply } from 'fastify';
import {
  orderOfCalculation,
  orderOfCalculationQuery,
  orderParams,
  orderResult,
  ordersInDoubt,
  prepareAnswer,
  prepareBody,
  processBody,
  type SubmitOrderAnswer,
  submitOrderAnswer,
  submitOrderBody,
} from '#contract/position-maker.ts';
import type { Deps } from '#server/deps.ts';
import { readOrderResult } from '#server/engine/orders/order-result.ts';
import { prepareOrder, refusalOf } from '#server/engine/orders/prepare-order.ts';
import { followOrder, type Submission, submitOrder } from '#server/engine/orders/submit-order.ts';
import { listOrdersInDoubt, writeOffOrder } from '#server/engine/orders/write-off.ts';
import { findTrade, findTradeOfCalculation } from '#server/engine/records/trades.store.ts';
import { findPositionGeneratorLog } from '#server/engine/sizing/position-generator.store.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { CHANGES_NOTHING, type WriteRule } from '#server/platform/http/write-rules.ts';

/** Two attempts with their waits take half a minute; an order in doubt is settled within this limit. */
const FOLLOW_LIMIT_MS = 90_000;

const submission: WriteRule = { stepUp: 'outsidePaper', audit: ['order submitted'], token: 'trade' };

/** Manual orders: preparation, submission and progress. */
export function registerOrderRoutes(app: App, deps: Deps): void {
  const admin = routeOptions({ access: 'admin', tags: ['position maker'] });
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());

  app.post(
    '/api/position-maker/prepare',
    admin({ write: CHANGES_NOTHING, body: prepareBody, answer: prepareAnswer }),
    ({ body }) => prepareOrder(deps, body),
  );

  app.post(
    '/api/position-maker/submit-order',
    admin({ write: submission, body: submitOrderBody, answer: submitOrderAnswer }),
    (request, reply) => submitAndFollow({ ...request.body, actor: actorOf(request, deps.config) }, reply),
  );

  app.post(
    '/api/individual-position-maker/process',
    admin({ write: submission, body: processBody, answer: submitOrderAnswer }),
    (request, reply) => submitAndFollow({ ...request.body, actor: actorOf(request, deps.config) }, reply),
  );

  async function submitAndFollow(submission: Submission, reply: FastifyReply): Promise<SubmitOrderAnswer> {
    const submitted = await submitOrder(deps, submission);
    if (!submitted.ok) return refusalOf(submitted.denial);
    const { tradeId } = submitted;
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, closing.signal]);
    await followOrder(deps, { tradeId, limitMs: FOLLOW_LIMIT_MS, signal });
    return await readResult(tradeId);
  }

  app.get(
    '/api/position-maker/orders',
    admin({ querystring: orderOfCalculationQuery, answer: orderOfCalculation }),
    async ({ query: { positionGeneratorLogId } }) => {
      const log = required(
        await findPositionGeneratorLog(deps.db, positionGeneratorLogId),
        'calculationNotFound',
      );
      const trade = await findTradeOfCalculation(deps.db, log.id);
      return { order: trade === null ? null : await readOrderResult(deps, trade) };
    },
  );

  app.get(
    '/api/position-maker/orders/:tradeId',
    admin({ params: orderParams, answer: orderResult }),
    ({ params: { tradeId } }) => readResult(tradeId),
  );

  app.get('/api/position-maker/orders-in-doubt', admin({ answer: ordersInDoubt }), async () => ({
    orders: await listOrdersInDoubt(deps),
  }));

  app.post(
    '/api/position-maker/orders/:tradeId/write-off',
    admin({
      write: { stepUp: 'always', audit: ['order written off'], token: 'admin' },
      params: orderParams,
      answer: orderResult,
    }),
    async (request) => {
      const { id, username } = getUser(request);
      const trade = await writeOffOrder(deps, {
        tradeId: request.params.tradeId,
        by: { id, username },
        actor: actorOf(request, deps.config),
      });
      return await readOrderResult(deps, trade);
    },
  );

  async function readResult(tradeId: string) {
    const trade = await findTrade(deps.db, tradeId);
    if (trade === null) throw new AppError('notFound', { message: 'Order not found' });
    return await readOrderResult(deps, trade);
  }
}
