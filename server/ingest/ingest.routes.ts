import type { FastifyReply, FastifyRequest } from 'fastify';
import { deliveryRefused, deliveryStored, MAX_DELIVERY_BYTES } from '#contract/ingest.ts';
import type { Deps } from '#server/deps.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { addressGroup, isAddressAllowed, sourceAddress } from '#server/platform/http/source-address.ts';
import { createWrongKeys, type WrongKeys } from '#server/platform/http/wrong-keys.ts';
import type { DeliveryResult } from '#server/platform/metrics.ts';
import type { DeliveryOutcome } from './deliveries.store.ts';
import { inTime, SEND_AGAIN } from './in-time.ts';
import type { DeliveryKind } from './read-delivery.ts';
import { registerTestDeliveryRoute } from './test-deliveries.routes.ts';

const RETRY_AFTER_SECONDS = 5;

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of a delivery for the metrics; null before it is known. */
    deliveryResult: DeliveryResult | null;
  }
}

/** The webhooks that TradingView calls, with every answer they give. */
export function registerIngestRoutes(app: App, deps: Deps): void {
  app.register(async (hooks) => {
    // The body is read as JSON whatever the header says: a 415 would lose the alert.
    hooks.addHook('onRequest', ({ raw }, _reply, done) => {
      delete raw.headers['content-type'];
      done();
    });
    // For throughput: no child logger per delivery, and no second validation of answers that are built here.
    hooks.setChildLoggerFactory((logger) => logger);
    hooks.setSerializerCompiler(() => JSON.stringify);
    hooks.decorateRequest('deliveryResult', null);
    hooks.removeAllContentTypeParsers();
    hooks.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: MAX_DELIVERY_BYTES },
      (_request, body, done) => done(null, body),
    );
    const schema = {
      tags: ['webhooks'],
      response: {
        200: deliveryStored,
        400: deliveryRefused,
        401: deliveryRefused,
        403: deliveryRefused,
        413: deliveryRefused,
        429: deliveryRefused,
        503: deliveryRefused,
      },
    };
    const config = { access: 'hook' } as const;
    const wrongKeys = createWrongKeys({ nowMs: deps.clock.monotonicMs });
    for (const [path, kind] of [
      ['/hooks/trading_view_signal', 'signal'],
      ['/hooks/trading_view_candler', 'candle'],
    ] as const) {
      const onResponse = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        const result = request.deliveryResult ?? resultOfStatus(reply.statusCode);
        deps.metrics.delivered({ kind, result, seconds: reply.elapsedTime / 1000 });
        done();
      };
      hooks.post(path, { config, schema, bodyLimit: MAX_DELIVERY_BYTES, onResponse }, (request, reply) =>
        answerDelivery({ deps, kind, wrongKeys }, request, reply),
      );
    }
  });
  registerTestDeliveryRoute(app, deps);
}

async function answerDelivery(
  { deps, kind, wrongKeys }: { deps: Deps; kind: DeliveryKind; wrongKeys: WrongKeys },
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const sourceIp = sourceAddress(request, deps.config);
  if (!isAddressAllowed(sourceIp, deps.config.webhookAllowedIps)) {
    request.deliveryResult = 'forbidden-address';
    return reply.code(403).send({ success: false, message: 'Deliveries from this address are not accepted' });
  }
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
  const { hkid } = request.query as { hkid?: unknown };
  const outcome = await inTime(deps, deps.receiver.receive({ kind, key: hkid, body, sourceIp }));
  request.deliveryResult = resultOf(outcome);
  switch (outcome.outcome) {
    case 'stored':
      return {
        success: true,
        id: outcome.id,
        duplicate: outcome.duplicate,
        ...(outcome.warnings.length > 0 && { warnings: outcome.warnings }),
      };
    case 'refused':
      return reply
        .code(400)
        .send({ success: false, message: outcome.refusal.message, errors: outcome.refusal.errors });
    case 'limited':
      return unavailable(reply, SEND_AGAIN.limited);
    case 'not-stored':
      return unavailable(reply, SEND_AGAIN['not-stored']);
    case 'unknown-key':
    case 'suspended':
      return refuseKey(reply, wrongKeys(addressGroup(sourceIp)));
  }
}

function resultOf(outcome: DeliveryOutcome | { outcome: 'not-stored' }): DeliveryResult {
  if (outcome.outcome === 'suspended') return 'unknown-key';
  return outcome.outcome === 'stored' && outcome.duplicate ? 'duplicate' : outcome.outcome;
}

/** For deliveries that are too large or arrive while the program shuts down. */
function resultOfStatus(status: number): DeliveryResult {
  if (status === 503) return 'not-stored';
  return status >= 400 && status < 500 ? 'refused' : 'failed';
}

function refuseKey(reply: FastifyReply, refusedForSeconds: number | null) {
  if (refusedForSeconds === null) {
    return reply.code(401).send({ success: false, message: 'Unknown webhook key' });
  }
  const message = 'Too many wrong webhook keys from this address';
  return reply.code(429).header('retry-after', String(refusedForSeconds)).send({ success: false, message });
}

const unavailable = (reply: FastifyReply, message: string) =>
  reply.code(503).header('retry-after', String(RETRY_AFTER_SECONDS)).send({ success: false, message });
