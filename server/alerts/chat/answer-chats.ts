import type { Deps } from '#server/deps.ts';
import { cutText } from '#server/platform/cut-text.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { assertHeld, type Lease, LeaseLostError, withLease } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import { openConfig } from '../channel-config.ts';
import { findState, markTold } from '../notice-states.store.ts';
import { messageOptions } from '../send-outbox.ts';
import {
  actorOf,
  type ChatPerson,
  createCommands,
  type ReadOverview,
  type Reply,
} from './carry-out-command.ts';
import {
  type AnsweringChannel,
  findNextUpdate,
  listAnsweringChannels,
  noteAnswersError,
  storeNextUpdate,
} from './chats.store.ts';
import { readCommand } from './read-command.ts';
import { callTelegram, type TelegramOptions, type TelegramUpdate } from './telegram-api.ts';

const LONG_POLL_SECONDS = 25;
const MORE_MS = 10_000;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;
const DAY_MS = 86_400_000;
const LONGEST_TEXT = 4_096;

interface Bot {
  id: string;
  token: string;
  /** By the id of their chat. */
  channels: Map<string, AnsweringChannel>;
}

export interface ChatAnswers {
  /** Starts asking each bot that nobody asks; `done`: when those that were begun here have ended. */
  look(options?: { waitSeconds?: number }): Promise<{ done: Promise<void> }>;
  stop(): Promise<void>;
}

/**
 * Answers commands from Telegram chats. Each bot is asked by the instance that has its lease, and each update is stored
 * as handled under it, after it was carried out: a crash in between repeats one, and loses none. A second stop is the
 * first one, and a question closes once.
 */
export function createChatAnswers(deps: Deps, sources: { readOverview: ReadOverview }): ChatAnswers {
  const { clock, config, db, log } = deps;
  const commands = createCommands(deps, sources);
  const asking = new Map<string, Promise<void>>();
  const failures = new Map<string, { count: number; until: Date }>();
  const stopping = new AbortController();

  async function listBots(): Promise<Bot[]> {
    const bots = new Map<string, Bot>();
    for (const one of await listAnsweringChannels(db)) {
      const token = tokenOf(one);
      if (token === null) continue;
      const { botToken, chatId } = token;
      const [id = ''] = botToken.split(':');
      // By the token: one that was revoked must not stand for its successor.
      const bot = bots.get(botToken) ?? { id, token: botToken, channels: new Map() };
      bots.set(botToken, bot);
      // The first channel of a chat speaks for it: administrators come first.
      if (!bot.channels.has(chatId)) bot.channels.set(chatId, one);
    }
    return [...bots.values()];
  }

  function tokenOf({ channel }: AnsweringChannel): { botToken: string; chatId: string } | null {
    try {
      const opened = openConfig(deps.secretBox, channel);
      return opened.kind === 'telegram' ? opened : null;
    } catch (error) {
      log.warn({ err: error, channelId: channel.id }, 'the secrets of a channel do not open');
      return null;
    }
  }

  async function askBot(bot: Bot, waitSeconds: number): Promise<void> {
    const holder = `${config.instanceId} alerts`;
    await withLease({ db, clock, key: `telegram:${bot.id}`, holder, log }, (lease) =>
      takeUpdates(bot, { lease, waitSeconds }),
    ).catch((error: unknown) => {
      if (error instanceof LeaseLostError) return;
      failed(bot, 0);
      log.warn({ err: error, botId: bot.id }, 'the commands of a chat could not be answered');
    });
  }

  const optionsOf = (bot: Bot): TelegramOptions => ({
    ...messageOptions(deps, stopping.signal),
    botToken: bot.token,
  });

  async function takeUpdates(
    bot: Bot,
    { lease, waitSeconds }: { lease: Lease; waitSeconds: number },
  ): Promise<void> {
    const offset = await findNextUpdate(db, { botId: bot.id, now: clock.now() });
    const answer = await callTelegram<TelegramUpdate[]>(
      { ...optionsOf(bot), timeoutMs: waitSeconds * 1_000 + MORE_MS },
      'getUpdates',
      {
        ...(offset === null ? {} : { offset }),
        timeout: waitSeconds,
        allowed_updates: ['message', 'callback_query'],
      },
    );
    if (stopping.signal.aborted) return;
    const ids = [...bot.channels.values()].map(({ channel }) => channel.id);
    await noteAnswersError(db, { ids, error: answer.ok ? null : answer.detail });
    if (!answer.ok) return failed(bot, answer.retryAfterMs ?? 0);
    failures.delete(bot.token);
    for (const update of answer.result.toSorted((one, other) => one.update_id - other.update_id)) {
      if (stopping.signal.aborted) return;
      await handle(bot, { update, lease });
    }
  }

  async function handle(
    bot: Bot,
    { update, lease }: { update: TelegramUpdate; lease: Lease },
  ): Promise<void> {
    const { callback_query: pressed } = update;
    const message = pressed?.message ?? update.message;
    const from = pressed?.from ?? message?.from;
    const done = (work: (tx: Tx) => Promise<void> = async () => undefined) =>
      db.transaction(async (tx) => {
        await assertHeld(tx, lease);
        await storeNextUpdate(tx, {
          botId: bot.id,
          nextUpdate: update.update_id + 1,
          handledAt: clock.now(),
        });
        await work(tx);
      });
    if (message === undefined || from === undefined || from.is_bot === true) return done();
    const person: ChatPerson = { chatId: String(message.chat.id), personId: String(from.id) };
    // A channel may have come or gone since the bot was asked.
    const { channels } = (await listBots()).find(({ token }) => token === bot.token) ?? {};
    const current = channels?.get(person.chatId);
    if (channels === undefined) return done();
    if (current === undefined) return done((tx) => noteUnknown(tx, { ...bot, channels }, person));
    const { answersAfter } = current.channel;
    const isNew = answersAfter !== null && message.message_id > answersAfter;
    const text = pressed === undefined ? (message.text ?? '') : `button ${pressed.data ?? ''}`;
    const command = pressed === undefined ? readCommand(text) : null;
    if (!isNew || (pressed === undefined && command === null)) return done();
    await assertHeld(db, lease);
    const of = { ...current, ...person };
    const reply = await replyTo(() =>
      command === null ? commands.confirm(questionOf(pressed?.data), of) : commands.carryOut(command, of),
    );
    await done((tx) =>
      deps.audit.record(tx, {
        actor: actorOf(of),
        action: 'command from a chat',
        subject: {
          kind: 'channel',
          id: current.channel.id,
          name: `${current.channel.name} (${current.owner.username})`,
        },
        after: {
          command: cutText(text, 300),
          chat: person.chatId,
          person: person.personId,
          personName: from.username ?? null,
          answer: cutText(reply.text, 300),
        },
      }),
    );
    if (pressed !== undefined)
      await callTelegram(optionsOf(bot), 'answerCallbackQuery', { callback_query_id: pressed.id });
    await say(bot, person.chatId, reply);
  }

  async function replyTo(work: () => Promise<Reply>): Promise<Reply> {
    try {
      return await work();
    } catch (error) {
      log.error({ err: error }, 'a command of a chat failed');
      return { text: 'This failed. Use the screens; the server log says why' };
    }
  }

  async function say(bot: Bot, chatId: string, { text, question }: Reply): Promise<void> {
    const said = await callTelegram(optionsOf(bot), 'sendMessage', {
      chat_id: chatId,
      text: cutText(text, LONGEST_TEXT),
      disable_web_page_preview: true,
      ...(question === undefined
        ? {}
        : {
            reply_markup: {
              inline_keyboard: [[{ text: 'Close all positions', callback_data: `flatten:${question}` }]],
            },
          }),
    });
    if (!said.ok) log.warn({ botId: bot.id, detail: said.detail }, 'a chat could not be answered');
  }

  /** Once a day for each bot. */
  async function noteUnknown(tx: Tx, bot: Bot, { chatId, personId }: ChatPerson): Promise<void> {
    const now = clock.now();
    const key = `chat unknown:${bot.id}`;
    const state = await findState(tx, key);
    if (state !== null && now.getTime() - state.toldAt.getTime() < DAY_MS) return;
    await markTold(tx, { key, now });
    const [first] = bot.channels.values();
    if (first === undefined) return;
    const data = { channel: first.channel.name, chat: chatId, person: personId };
    await noteEvents(tx, [{ code: 'chat_unknown', userId: first.owner.id, data, at: now }]);
  }

  function failed({ token }: Bot, retryAfterMs: number): void {
    const count = (failures.get(token)?.count ?? 0) + 1;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(count - 1, 10), LONGEST_RETRY_MS);
    failures.set(token, { count, until: new Date(clock.now().getTime() + Math.max(waitMs, retryAfterMs)) });
  }

  return {
    async look({ waitSeconds = LONG_POLL_SECONDS } = {}) {
      const now = clock.now();
      for (const bot of stopping.signal.aborted ? [] : await listBots()) {
        const { until } = failures.get(bot.token) ?? {};
        if (asking.has(bot.token) || (until !== undefined && until > now)) continue;
        asking.set(
          bot.token,
          askBot(bot, waitSeconds).finally(() => asking.delete(bot.token)),
        );
      }
      return { done: Promise.all(asking.values()).then(() => undefined) };
    },
    async stop() {
      stopping.abort();
      await Promise.all(asking.values());
    },
  };
}

const questionOf = (data: string | undefined): string =>
  /^flatten:([0-9a-f-]{36})$/.exec(data ?? '')?.[1] ?? '00000000-0000-0000-0000-000000000000';
