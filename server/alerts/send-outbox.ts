import { and, asc, eq, lt, sql } from 'drizzle-orm';
import type { Deps } from '#server/deps.ts';
import { noticeDeliveries, notices, notificationChannels, users } from '#server/platform/db/schema.ts';
import { assertHeld, type Lease, LeaseLostError, withLease } from '#server/platform/jobs/leases.ts';
import { SecretBoxError } from '#server/platform/secret-box.ts';
import { openConfig } from './channel-config.ts';
import { isQuiet, quietMs } from './quiet-hours.ts';
import type { SendResult } from './send-http.ts';
import { type Message, type MessageOptions, sendMessage } from './send-message.ts';

type OutboxDeps = Pick<Deps, 'clock' | 'config' | 'db' | 'log' | 'secretBox'>;
type ChannelRow = typeof notificationChannels.$inferSelect;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 3_600_000;
const GIVEN_UP_MS = 24 * 3_600_000;
/** Channels that are being sent to at a time; the others follow when one of them is through. */
const MOST_AT_ONCE = 32;

export interface Outbox {
  /** Starts sending to every channel that has something due. `done`: when all of these are through. */
  send(): Promise<{ done: Promise<void> }>;
  stop(): Promise<void>;
}

/**
 * Sends what the outbox holds. A channel is sent to by the instance that has its lease, in the order of the rows, each
 * until it is accepted or a day old. A kill in between sends a message again, under the same id.
 */
export function createOutbox(
  deps: OutboxDeps,
  { send = sendMessage }: { send?: typeof sendMessage } = {},
): Outbox {
  const { db, clock, config, log } = deps;
  const sending = new Map<string, Promise<void>>();
  const stopping = new AbortController();

  async function sendTo(channelId: string): Promise<void> {
    const holder = `${config.instanceId} alerts`;
    await withLease({ db, clock, key: `notification-channel:${channelId}`, holder, log }, async (lease) => {
      await giveUpOld(deps, channelId);
      while (
        !stopping.signal.aborted &&
        (await sendNext(deps, { channelId, lease, send, signal: stopping.signal }))
      );
    }).catch((error: unknown) => {
      if (error instanceof LeaseLostError) return;
      log.warn({ err: error, channelId }, 'notices could not be sent to a channel');
    });
  }

  return {
    async send() {
      const due = await listDue(deps, clock.now());
      for (const { id } of due) {
        if (sending.has(id) || sending.size >= MOST_AT_ONCE || stopping.signal.aborted) continue;
        sending.set(
          id,
          sendTo(id).finally(() => sending.delete(id)),
        );
      }
      return { done: Promise.all(sending.values()).then(() => undefined) };
    },
    async stop() {
      stopping.abort();
      await Promise.all(sending.values());
    },
  };
}

const isWaiting = eq(noticeDeliveries.state, 'waiting');

/** Channels with something to send now whose next try is due. */
async function listDue({ db, config }: OutboxDeps, now: Date): Promise<{ id: string }[]> {
  const { rows } = await db.execute<{
    id: string;
    quietFrom: string | null;
    quietTo: string | null;
    isMuted: boolean;
    hasCritical: boolean;
  }>(sql`
    select channel.id, quiet_from as "quietFrom", quiet_to as "quietTo",
      coalesce(muted_until > ${now}, false) as "isMuted", bool_or(is_critical) as "hasCritical"
    from notification_channels as channel
    join users on users.id = owner_user_id and users.is_active
    join notice_deliveries on channel_id = channel.id and state = 'waiting'
    where enabled and (retry_at is null or retry_at <= ${now})
    group by channel.id`);
  return rows.filter((row) => row.hasCritical || !(row.isMuted || isQuiet(now, row, config.displayTimezone)));
}

/** What is a day old is not news. Quiet hours do not count, or a night would use up half of it. */
async function giveUpOld({ db, clock, log }: OutboxDeps, channelId: string): Promise<void> {
  const now = clock.now();
  const [channel] = await db
    .select()
    .from(notificationChannels)
    .where(eq(notificationChannels.id, channelId));
  if (channel === undefined) return;
  const before = new Date(now.getTime() - GIVEN_UP_MS - quietMs(channel));
  const given = await db
    .update(noticeDeliveries)
    .set({ state: 'given up', endedAt: now })
    .where(and(eq(noticeDeliveries.channelId, channelId), isWaiting, lt(noticeDeliveries.createdAt, before)))
    .returning({ id: noticeDeliveries.id });
  if (given.length > 0)
    log.warn({ channelId, count: given.length }, 'notices were given up after a day of tries');
}

interface Step {
  channelId: string;
  lease: Lease;
  send: typeof sendMessage;
  signal: AbortSignal;
}

/** Makes one try of the first row that may be sent now. Returns whether the next one may follow at once. */
async function sendNext(deps: OutboxDeps, { channelId, lease, send, signal }: Step): Promise<boolean> {
  const { db, clock, config } = deps;
  const now = clock.now();
  const [channel] = await db
    .select()
    .from(notificationChannels)
    .where(eq(notificationChannels.id, channelId));
  if (channel === undefined || !channel.enabled) return false;
  if (channel.retryAt !== null && channel.retryAt > now) return false;
  const isMuted = channel.mutedUntil !== null && channel.mutedUntil > now;
  const isQuietNow = isMuted || isQuiet(now, channel, config.displayTimezone);
  const [first] = await db
    .select({ delivery: noticeDeliveries, notice: notices, owner: users })
    .from(noticeDeliveries)
    .innerJoin(notices, eq(notices.id, noticeDeliveries.noticeId))
    .innerJoin(users, eq(users.id, channel.ownerUserId))
    .where(
      and(
        eq(noticeDeliveries.channelId, channelId),
        isWaiting,
        isQuietNow ? eq(noticeDeliveries.isCritical, true) : undefined,
      ),
    )
    .orderBy(asc(noticeDeliveries.id))
    .limit(1);
  if (first === undefined) return false;
  const { delivery, notice, owner } = first;
  // The role may have changed since the notice was made.
  const isAddressed = notice.recipientId === null ? owner.isAdmin : notice.recipientId === owner.id;
  const result =
    isAddressed && owner.isActive ? await tryOnce(deps, { channel, notice, send, signal }) : null;
  if (signal.aborted && result?.ok !== true) return false;
  const endedAt = clock.now();
  await db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const state = result === null ? 'given up' : result.ok ? 'sent' : 'waiting';
    await tx
      .update(noticeDeliveries)
      .set({ state, tries: delivery.tries + 1, endedAt: state === 'waiting' ? null : endedAt })
      .where(eq(noticeDeliveries.id, delivery.id));
    if (result === null) return;
    await tx
      .update(notificationChannels)
      .set(result.ok ? { ...WORKS, lastSentAt: endedAt } : failed(channel, result, endedAt))
      // A configuration that was changed meanwhile begins anew.
      .where(
        and(eq(notificationChannels.id, channelId), eq(notificationChannels.updatedAt, channel.updatedAt)),
      );
  });
  return result === null || result.ok;
}

/** A channel that works, or that has just been changed. */
export const WORKS = { failures: 0, retryAt: null, lastError: null, lastErrorAt: null };

function failed({ failures }: ChannelRow, { detail, retryAfterMs = 0 }: SendResult, now: Date) {
  const waitMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 20), LONGEST_RETRY_MS);
  return {
    failures: failures + 1,
    retryAt: new Date(now.getTime() + Math.max(waitMs, retryAfterMs)),
    lastError: detail,
    lastErrorAt: now,
  };
}

async function tryOnce(
  deps: OutboxDeps,
  {
    channel,
    notice,
    send,
    signal,
  }: {
    channel: ChannelRow;
    notice: typeof notices.$inferSelect;
    send: typeof sendMessage;
    signal: AbortSignal;
  },
): Promise<SendResult> {
  const { id, code, severity, at, text, link, subject, data } = notice;
  const message: Message = {
    id,
    code,
    severity,
    at: at.toISOString(),
    text,
    link: absoluteLink(deps.config, link),
    subject,
    data,
  };
  try {
    return await send(openConfig(deps.secretBox, channel), message, messageOptions(deps, signal));
  } catch (error) {
    if (error instanceof SecretBoxError) {
      return { ok: false, detail: 'The secrets of the channel do not open: enter them again' };
    }
    // The channel has to show it: what follows waits for this message.
    deps.log.error({ err: error, channelId: channel.id, noticeId: id }, 'a notice could not be sent');
    return { ok: false, detail: 'The message could not be sent, see the server log' };
  }
}

export const absoluteLink = ({ publicUrl }: Pick<Deps['config'], 'publicUrl'>, path: string): string =>
  `${publicUrl ?? ''}${path}`;

export const messageOptions = (
  { config, clock }: Pick<Deps, 'clock' | 'config'>,
  signal?: AbortSignal,
): MessageOptions => ({
  allowPrivate: config.notifyPrivateAddresses === 'allowed',
  telegramUrl: config.telegramBaseUrl ?? 'https://api.telegram.org',
  clock,
  signal,
});
