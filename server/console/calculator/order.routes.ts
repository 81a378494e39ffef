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
import { findTrade, findTradeOfCalculation } from '#server/engine/orders/trades.store.ts';
import { listOrdersInDoubt, writeOffOrder } from '#server/engine/orders/write-off.ts';
import { findPositionGeneratorLog } from '#server/engine/sizing/position-generator.store.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';

const config = { access: 'admin' } as const;
const tags = ['position maker'];
/** Two attempts with their waits take half a minute; an order in doubt is settled within this limit. */
const FOLLOW_LIMIT_MS = 90_000;

/** Manual orders: preparation, submission and progress. */
export function registerOrderRoutes(app: App, deps: Deps): void {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());

  app.post(
    '/api/position-maker/prepare',
    { config, schema: { tags, body: prepareBody, response: { 200: prepareAnswer } } },
    ({ body }) => prepareOrder(deps, body),
  );

  app.post(
    '/api/position-maker/submit-order',
    { config, schema: { tags, body: submitOrderBody, response: { 200: submitOrderAnswer } } },
    ({ body }, reply) => submitAndFollow(body, reply),
  );

  app.post(
    '/api/individual-position-maker/process',
    { config, schema: { tags, body: processBody, response: { 200: submitOrderAnswer } } },
    ({ body }, reply) => submitAndFollow(body, reply),
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
    { config, schema: { tags, querystring: orderOfCalculationQuery, response: { 200: orderOfCalculation } } },
    async ({ query: { positionGeneratorLogId } }) => {
      const log = await findPositionGeneratorLog(deps.db, positionGeneratorLogId);
      if (log === null) throw new AppError('calculationNotFound');
      const trade = await findTradeOfCalculation(deps.db, log.id);
      return { order: trade === null ? null : await readOrderResult(deps, trade) };
    },
  );

  app.get(
    '/api/position-maker/orders/:tradeId',
    { config, schema: { tags, params: orderParams, response: { 200: orderResult } } },
    ({ params: { tradeId } }) => readResult(tradeId),
  );

  app.get(
    '/api/position-maker/orders-in-doubt',
    { config, schema: { tags, response: { 200: ordersInDoubt } } },
    async () => ({ orders: await listOrdersInDoubt(deps) }),
  );

  app.post(
    '/api/position-maker/orders/:tradeId/write-off',
    { config, schema: { tags, params: orderParams, response: { 200: orderResult } } },
    async (request) => {
      const { id, username } = getUser(request);
      const trade = await writeOffOrder(deps, { tradeId: request.params.tradeId, by: { id, username } });
      return await readOrderResult(deps, trade);
    },
  );

  async function readResult(tradeId: string) {
    const trade = await findTrade(deps.db, tradeId);
    if (trade === null) throw new AppError('notFound', { message: 'Order not found' });
    return await readOrderResult(deps, trade);
  }
}
