import { and, eq } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { messageAnswer } from '#contract/auth.ts';
import {
  type ChannelConfig,
  channelBody,
  notificationChannels as channelsAnswer,
  channelTest,
  createdChannel,
  MAX_CHANNELS,
  type NotificationChannel,
  notificationChannel,
} from '#contract/notification-channels.ts';
import { idParams } from '#contract/paging.ts';
import { holdActiveUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { notificationChannels } from '#server/platform/db/schema.ts';
import { getUser, requireStepUp } from '#server/platform/http/access.ts';
import { AppError, invalidFields, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { createSharedLimit } from '#server/platform/http/shared-limit.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { newSigningSecret, openConfig, readConfig, sealConfig, shownConfig } from './channel-config.ts';
import {
  countChannelsOf,
  deleteChannel,
  findChannel,
  listChannels,
  type ShownChannel,
} from './channels.store.ts';
import { muteUntil } from './chat/chats.store.ts';
import { callTelegram } from './chat/telegram-api.ts';
import { AddressRefusedError, readAddress, resolveChecked } from './checked-address.ts';
import { sendMessage } from './send-message.ts';
import { absoluteLink, messageOptions, WORKS } from './send-outbox.ts';

const TESTS_PER_MINUTE = 10;
const RESOLVE_MS = 3_000;

type ChannelRow = typeof notificationChannels.$inferSelect;
type Body = z.output<typeof channelBody>;
type ChannelDeps = Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'log' | 'pool' | 'secretBox'>;

const user = routeOptions({ access: 'user', tags: ['alerts'] });

/** Where notices are sent to. Everybody manages their own channels, administrators all. */
export function registerChannelRoutes(app: App, deps: ChannelDeps): void {
  const limitTests = createSharedLimit(deps.pool, {
    keyPrefix: 'channel-test',
    points: TESTS_PER_MINUTE,
    duration: 60,
  });

  app.get('/api/notification-channels', user({ answer: channelsAnswer }), async (request) => ({
    channels: (await listChannels(deps.db, getUser(request))).map(toView),
  }));

  app.post(
    '/api/notification-channels',
    {
      config: {
        access: 'user',
        write: { stepUp: 'outsidePaper', audit: ['notification channel created'], token: null },
      },
      schema: { tags: ['alerts'], body: channelBody, response: { 201: createdChannel } },
    },
    async (request, reply) => {
      const { id: ownerUserId } = getUser(request);
      const { body } = request;
      const given = readConfig(body.kind, body.config);
      const isMade = given.kind === 'webhook' && given.secret === undefined;
      const config: ChannelConfig = isMade ? { ...given, secret: newSigningSecret() } : given;
      await checkAddress(config);
      const now = deps.clock.now();
      const id = timeOrderedId();
      const after = await answersAfter(request, { config, ownerUserId, found: null });
      const created = await deps.db.transaction(async (tx) => {
        required(await holdActiveUser(tx, ownerUserId), 'notSignedIn');
        if ((await countChannelsOf(tx, ownerUserId)) >= MAX_CHANNELS) throw new AppError('tooManyChannels');
        const configSealed = sealConfig(deps.secretBox, config, { id, ownerUserId });
        await tx.insert(notificationChannels).values({
          id,
          ownerUserId,
          kind: body.kind,
          configSealed,
          shown: shownConfig(config),
          ...columnsOf(body),
          answersAfter: after,
          createdAt: now,
          updatedAt: now,
        });
        const row = required(await findChannel(tx, { id, viewer: getUser(request) }), 'channelNotFound');
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'notification channel created',
          subject: aboutChannel(row),
          after: described(row),
        });
        return row;
      });
      request.log.info(
        { userId: ownerUserId, channelId: id, kind: body.kind },
        'notification channel created',
      );
      const secret = isMade && config.kind === 'webhook' ? { secret: config.secret } : {};
      return reply.code(201).send({ ...toView(created), ...secret });
    },
  );

  app.put(
    '/api/notification-channels/:id',
    user({
      write: { stepUp: 'outsidePaper', audit: ['notification channel changed'], token: null },
      params: idParams,
      body: channelBody,
      answer: notificationChannel,
    }),
    async (request) => {
      const { body } = request;
      const found = await ownChannel(request, request.params.id);
      const { id, ownerUserId, kind, updatedAt } = found.channel;
      if (body.kind !== kind) {
        throw invalidFields([{ path: 'kind', message: 'The kind of a channel stays: create another one' }]);
      }
      const before = openOrNull(found);
      const config = readConfig(kind, body.config, before);
      await checkAddress(config);
      const after = await answersAfter(request, {
        config,
        ownerUserId,
        found: { channel: found.channel, config: before },
      });
      const changed = await deps.db.transaction(async (tx) => {
        const rows = await tx
          .update(notificationChannels)
          .set({
            configSealed: sealConfig(deps.secretBox, config, { id, ownerUserId }),
            shown: shownConfig(config),
            ...columnsOf(body),
            ...WORKS,
            answersAfter: after,
            answersError: null,
            updatedAt: new Date(Math.max(deps.clock.now().getTime(), updatedAt.getTime() + 1)),
          })
          .where(and(eq(notificationChannels.id, id), eq(notificationChannels.updatedAt, updatedAt)))
          .returning({ id: notificationChannels.id });
        if (rows.length === 0) throw new AppError('channelChanged');
        const row = required(await findChannel(tx, { id, viewer: getUser(request) }), 'channelNotFound');
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'notification channel changed',
          subject: aboutChannel(row),
          before: described(found),
          after: described(row),
        });
        return row;
      });
      request.log.info({ channelId: id }, 'notification channel changed');
      return toView(changed);
    },
  );

  app.delete(
    '/api/notification-channels/:id',
    user({
      write: { stepUp: 'outsidePaper', audit: ['notification channel deleted'], token: null },
      params: idParams,
      answer: messageAnswer,
    }),
    async (request) => {
      const found = await ownChannel(request, request.params.id);
      await deps.db.transaction(async (tx) => {
        if (!(await deleteChannel(tx, found.channel.id))) throw new AppError('channelNotFound');
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'notification channel deleted',
          subject: aboutChannel(found),
          before: described(found),
        });
      });
      request.log.info({ channelId: found.channel.id }, 'notification channel deleted');
      return { message: 'The channel was deleted' };
    },
  );

  app.post(
    '/api/notification-channels/:id/test',
    user({
      write: { stepUp: 'never', audit: ['notification channel tested'], token: null },
      params: idParams,
      answer: channelTest,
    }),
    async (request) => {
      const found = await ownChannel(request, request.params.id);
      const { id: userId, username } = getUser(request);
      const waitMs = await limitTests(userId);
      if (waitMs !== null) {
        throw new AppError('tooManyRequests', { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
      }
      const config = openOrNull(found);
      const result =
        config === null
          ? { ok: false, detail: 'The secrets of the channel do not open: enter them again' }
          : await sendMessage(
              config,
              {
                id: timeOrderedId(),
                code: 'test',
                severity: 'info',
                at: deps.clock.now().toISOString(),
                text: `Test of the channel ${found.channel.name} by ${username}`,
                link: absoluteLink(deps.config, '/alerts'),
                subject: { userId, username },
                data: {},
              },
              messageOptions(deps),
            );
      const { ok, detail } = result;
      await deps.audit.record(deps.db, {
        actor: actorOf(request, deps.config),
        action: 'notification channel tested',
        subject: aboutChannel(found),
        after: { ok, detail },
      });
      return { ok, detail };
    },
  );

  app.delete(
    '/api/notification-channels/:id/mute',
    user({
      write: { stepUp: 'never', audit: ['notification channel unmuted'], token: null },
      params: idParams,
      answer: notificationChannel,
    }),
    async (request) => {
      const found = await ownChannel(request, request.params.id);
      const unmuted = { ...found, channel: { ...found.channel, mutedUntil: null } };
      const { mutedUntil } = toView(found);
      if (mutedUntil === null) return toView(unmuted);
      await deps.db.transaction(async (tx) => {
        await muteUntil(tx, { channelId: found.channel.id, until: null });
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'notification channel unmuted',
          subject: aboutChannel(found),
          before: { mutedUntil },
          after: { mutedUntil: null },
        });
      });
      return toView(unmuted);
    },
  );

  async function ownChannel(request: FastifyRequest, id: string): Promise<ShownChannel> {
    return required(await findChannel(deps.db, { id, viewer: getUser(request) }), 'channelNotFound');
  }

  /**
   * After which message commands are answered; null: they are not. They stay on while bot and chat stay the same. For
   * another chat, and when they were off, only the owner switches them on, with the password; what somebody else changes
   * of it switches them off.
   */
  async function answersAfter(
    request: FastifyRequest<{ Body: Body }>,
    {
      config,
      ownerUserId,
      found,
    }: {
      config: ChannelConfig;
      ownerUserId: string;
      found: { channel: ChannelRow; config: ChannelConfig | null } | null;
    },
  ): Promise<number | null> {
    const before = found?.channel.answersAfter ?? null;
    const { answers = before !== null, enabled } = request.body;
    if (!answers) return null;
    const isOwner = getUser(request).id === ownerUserId;
    if (before === null || !isSameChat(found?.config ?? null, config)) {
      if (request.body.answers === undefined && !isOwner) return null;
      if (!isOwner) throw answersRefused('Only the owner of a channel switches its commands on');
      requireStepUp(request, deps.clock.now());
    } else if (found?.channel.enabled === true || !enabled) {
      return before;
    }
    return await announceAnswers(config);
  }

  /** Writes to the chat from where on commands are answered; returns the id of that message. */
  async function announceAnswers(config: ChannelConfig): Promise<number> {
    if (config.kind !== 'telegram') throw answersRefused('Only Telegram channels answer commands');
    const { botToken, chatId } = config;
    if (!/^-?\d+$/.test(chatId))
      throw answersRefused('Commands are answered in a chat whose id is a number only');
    const sent = await callTelegram<{ message_id: number }>(
      { ...messageOptions(deps), botToken },
      'sendMessage',
      { chat_id: chatId, text: 'Signal Board answers commands that are written below this message: /help' },
    );
    if (!sent.ok) throw answersRefused(`The bot cannot write to this chat: ${sent.detail}`);
    return sent.result.message_id;
  }

  /** Null: sealed under another SECRET_KEY; all of it has to be entered again. */
  function openOrNull({ channel }: ShownChannel): ChannelConfig | null {
    try {
      return openConfig(deps.secretBox, channel);
    } catch (error) {
      deps.log.error({ err: error, channelId: channel.id }, 'the secrets of a channel do not open');
      return null;
    }
  }

  /** Tells at once what sending would refuse. A name that does not resolve now may do so later. */
  async function checkAddress(config: ChannelConfig): Promise<void> {
    if (config.kind === 'telegram') return;
    const { allowPrivate } = messageOptions(deps);
    const field = config.kind === 'email' ? 'config.host' : 'config.url';
    try {
      const host = config.kind === 'email' ? config.host : readAddress(config.url, { allowPrivate }).hostname;
      await Promise.race([resolveChecked(host, { allowPrivate }), deps.clock.sleep(RESOLVE_MS)]);
    } catch (error) {
      if (!(error instanceof AddressRefusedError) || error.isTemporary) return;
      throw invalidFields([{ path: field, message: error.message }]);
    }
  }
}

const answersRefused = (message: string) => invalidFields([{ path: 'answers', message }]);

const isSameChat = (before: ChannelConfig | null, after: ChannelConfig): boolean =>
  before?.kind === 'telegram' &&
  after.kind === 'telegram' &&
  before.chatId === after.chatId &&
  before.botToken === after.botToken;

const columnsOf = ({ name, minSeverity, codes, quietHours, enabled }: Body) => ({
  name,
  minSeverity,
  codes: codes ?? null,
  quietFrom: quietHours?.from ?? null,
  quietTo: quietHours?.to ?? null,
  enabled,
});

function toView({ channel, owner, waiting }: ShownChannel): NotificationChannel {
  const { id, kind, name, shown, minSeverity, codes, quietFrom, quietTo, enabled, lastError } = channel;
  return {
    id,
    kind,
    name,
    config: shown,
    minSeverity,
    codes,
    quietHours: quietFrom === null || quietTo === null ? null : { from: quietFrom, to: quietTo },
    enabled,
    answers: channel.answersAfter !== null,
    answersError: channel.answersError,
    mutedUntil: channel.mutedUntil?.toISOString() ?? null,
    owner,
    createdAt: channel.createdAt.toISOString(),
    updatedAt: channel.updatedAt.toISOString(),
    lastSentAt: channel.lastSentAt?.toISOString() ?? null,
    lastError,
    lastErrorAt: channel.lastErrorAt?.toISOString() ?? null,
    waiting,
  };
}

const aboutChannel = ({ channel, owner }: ShownChannel) => ({
  kind: 'channel' as const,
  id: channel.id,
  name: `${channel.name} (${owner.username})`,
});

/** For the audit trail: secrets as hints. */
const described = (one: ShownChannel) => {
  const { kind, name, config, minSeverity, codes, quietHours, enabled, answers } = toView(one);
  return { kind, name, ...config, minSeverity, codes, quietHours, enabled, answers };
};
