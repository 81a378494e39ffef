import type { FastifyRequest } from 'fastify';
import type { TestDeliveryAnswer, TestDeliveryBody } from '#contract/hooks.ts';
import { MAX_DELIVERY_BYTES } from '#contract/ingest.ts';
import { hookKeyHashes, openHookKey } from '#server/admin/hooks/hook-keys.ts';
import type { HookRow } from '#server/admin/hooks/hooks.store.ts';
import type { Deps } from '#server/deps.ts';
import { aboutWebhook } from '#server/platform/audit/audit-subjects.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import type { Config } from '#server/platform/config/config.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { sourceAddress } from '#server/platform/http/source-address.ts';
import { inTime, SEND_AGAIN } from './in-time.ts';

/**
 * Delivers a payload to the caller's own webhook as the charting platform would, and records it in the audit trail. The
 * answer says what the charting platform would get. Throws `testDeliveryInLiveTrading` while real money is traded.
 */
export async function sendTestDelivery(
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'log' | 'receiver' | 'secretBox'>,
  request: FastifyRequest,
  { hook, kind, payload }: TestDeliveryBody & { hook: HookRow },
): Promise<TestDeliveryAnswer> {
  const { id: userId, username } = getUser(request);
  if (tradesRealMoney(deps.config)) throw new AppError('testDeliveryInLiveTrading');
  const body = Buffer.from(JSON.stringify(payload));
  if (body.length > MAX_DELIVERY_BYTES) throw new AppError('tooLarge');

  const sourceIp = sourceAddress(request, deps.config);
  const key = openHookKey(deps.secretBox, hook);
  const keyHashes = key === null ? [hook.keyHash] : hookKeyHashes(deps.secretBox, key);
  const outcome = await inTime(deps, deps.receiver.receiveByHash({ kind, keyHashes, body, sourceIp }));
  request.log.info({ userId, webhookId: hook.id, kind, outcome: outcome.outcome }, 'test delivery');
  if (outcome.outcome === 'stored' || outcome.outcome === 'refused') {
    const id = outcome.outcome === 'stored' ? outcome.id : null;
    await deps.audit.record(deps.db, {
      actor: actorOf(request, deps.config),
      action: 'test delivery sent',
      subject: aboutWebhook(hook, username),
      after: { kind, outcome: outcome.outcome, id },
    });
  }
  switch (outcome.outcome) {
    case 'stored':
      return {
        success: true,
        id: outcome.id,
        duplicate: outcome.duplicate,
        message: [
          outcome.duplicate ? 'This delivery is stored already' : 'The delivery is stored',
          ...outcome.warnings,
        ].join('. '),
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
}

/** A test signal would open positions, and a test candle would place the stops of later signals. */
export const tradesRealMoney = ({
  exchangeMode,
  autoTrade,
}: Pick<Config, 'exchangeMode' | 'autoTrade'>): boolean => exchangeMode === 'live' && autoTrade.enabled;
