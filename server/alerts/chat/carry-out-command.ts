import type { OverviewAnswer } from '#contract/overview.ts';
import { D } from '#domain/decimal.ts';
import type { StopScope } from '#domain/orders/trading-stop.ts';
import { nameOf, stopEntries } from '#server/admin/stops/stop-entries.ts';
import { listStopRows } from '#server/admin/stops/trading-stops.store.ts';
import { typedUsernameKey } from '#server/admin/users/user-rows.ts';
import { findUserByKey } from '#server/admin/users/users.store.ts';
import { collectConditions } from '#server/console/attention/attention.routes.ts';
import { tradingConditions } from '#server/console/attention/trading-conditions.ts';
import { findFlatten } from '#server/console/positions/flatten.store.ts';
import { listPositions } from '#server/console/positions/list-positions.ts';
import { requestFlatten } from '#server/console/positions/request-flatten.ts';
import type { Deps } from '#server/deps.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import { instantInZone, signedMoney } from '../notice-text.ts';
import { type AnsweringChannel, ask, findQuestion, muteUntil } from './chats.store.ts';
import type { Command, NamedScope } from './read-command.ts';

/** What is written to the chat. `question`: the id that a button below the text sends back. */
export interface Reply {
  text: string;
  question?: string;
}

export interface ChatPerson {
  chatId: string;
  personId: string;
}

export interface Commands {
  carryOut(command: Command, of: AnsweringChannel & ChatPerson): Promise<Reply>;
  /** The button below the question whether to close all positions. */
  confirm(question: string, of: AnsweringChannel & ChatPerson): Promise<Reply>;
}

/** How everything stands, or one user's account. */
export type ReadOverview = (of: { userId?: string }) => Promise<OverviewAnswer>;

const QUESTION_MS = 60_000;
const MOST_LISTED = 30;

/**
 * The commands that a chat may give. They look, stop, close and mute: nothing here opens, loosens, lifts or resumes.
 */
export function createCommands(deps: Deps, { readOverview }: { readOverview: ReadOverview }): Commands {
  const { clock, config, db } = deps;
  const readAccount = createAccountReader(deps);
  const sources = [...deps.attentionSources, ...tradingConditions(deps)];

  async function carryOut(command: Command, of: AnsweringChannel & ChatPerson): Promise<Reply> {
    const { owner } = of;
    if (command.kind === 'unclear') return { text: command.reason };
    if (command.kind === 'status') return { text: await status(owner) };
    if (command.kind === 'stop') return { text: await stop(command.scope, of) };
    if (!owner.isAdmin || command.kind === 'help') return { text: help(owner.isAdmin) };
    if (command.kind === 'positions') return { text: await positions() };
    if (command.kind === 'mute') return { text: await mute(command.ms, of) };
    return await askToFlatten(command.scope, of);
  }

  async function status({ id, isAdmin }: AnsweringChannel['owner']): Promise<string> {
    const [overview, stops, conditions] = await Promise.all([
      readOverview(isAdmin ? {} : { userId: id }),
      listStopRows(db, clock.now()),
      isAdmin ? collectConditions({ sources, clock, log: deps.log }) : [],
    ]);
    const { netToday, open, accounts } = overview;
    const scopes = await Promise.all(
      stops
        .filter((row) => isAdmin || row.scopeKind !== 'user' || row.scopeValue === id)
        .map((row) => nameOf(db, { kind: row.scopeKind, value: row.scopeValue })),
    );
    return [
      `${config.exchangeMode.toUpperCase()} mode`,
      `Net today ${signedMoney(netToday.amount)} USDT (${netToday.trades} closed)`,
      `Open: ${open.positions} positions, profit ${signedMoney(open.profit)}, risk to stops ${D(open.riskToStops).toFixed(2)} USDT`,
      ...(open.unread > 0 ? [`Not in these sums: ${open.unread} accounts that could not be read`] : []),
      ...(open.withoutStop > 0 ? [`Without a stop: ${open.withoutStop} positions`] : []),
      ...(isAdmin
        ? []
        : accounts.map(({ state, reason }) => `Trading: ${state}${reason === null ? '' : `, ${reason}`}`)),
      ...(scopes.length === 0 ? [] : [`New entries are stopped for ${scopes.join(', ')}`]),
      ...(isAdmin ? [conditions.length === 0 ? 'Nothing needs attention' : 'Needs attention:'] : []),
      ...conditions.slice(0, MOST_LISTED).map(({ text }) => `• ${text}`),
    ].join('\n');
  }

  async function positions(): Promise<string> {
    const { open, unreachable } = await listPositions(deps, readAccount, { limit: 1 });
    const lines = open
      .slice(0, MOST_LISTED)
      .map(
        ({ side, quantity, token, username, unrealisedProfit, stopLoss }) =>
          `${side === 'long' ? '▲' : '▼'} ${quantity} ${token} ${side}, ${username}: ${signedMoney(unrealisedProfit)}, ${stopLoss === null ? 'NO STOP' : `stop ${stopLoss}`}`,
      );
    return [
      ...(open.length === 0 ? ['No open positions'] : lines),
      ...(open.length > MOST_LISTED ? [`and ${open.length - MOST_LISTED} more`] : []),
      ...unreachable.map(({ username }) => `Not read: ${username}`),
    ].join('\n');
  }

  async function stop({ kind, name }: NamedScope, of: AnsweringChannel & ChatPerson): Promise<string> {
    const { owner } = of;
    if (!owner.isAdmin && name !== null)
      return 'Nothing was stopped. Write /stop alone: it stops new entries of your account';
    const scope = owner.isAdmin
      ? await findScope({ kind, name })
      : ({ kind: 'user', value: owner.id } as const);
    if (scope === null) return `Nothing was stopped. There is no user ${name}`;
    await stopEntries(deps, { scope, reason: null, until: null, by: actorOf(of), userId: owner.id });
    return `New entries are stopped for ${await nameOf(db, scope)}. They are resumed on the screens only`;
  }

  async function askToFlatten({ kind, name }: NamedScope, { channel }: AnsweringChannel): Promise<Reply> {
    const scope = await findScope({ kind, name });
    if (scope === null) return { text: `Nothing was done. There is no user ${name}` };
    const expiresAt = new Date(clock.now().getTime() + QUESTION_MS);
    const question = await ask(db, { channelId: channel.id, scope, expiresAt });
    return {
      text: `Stop new entries and close all positions for ${await nameOf(db, scope)}? The button works for 60 seconds`,
      question,
    };
  }

  async function confirm(question: string, of: AnsweringChannel & ChatPerson): Promise<Reply> {
    const { owner, channel } = of;
    if (!owner.isAdmin) return { text: help(false) };
    const found = await findQuestion(db, { id: question, channelId: channel.id });
    if (found !== null && (await findFlatten(db, question)) !== null)
      return { text: 'Nothing was done. The button was pressed before, and works once' };
    if (found === null || found.expiresAt <= clock.now())
      return { text: 'Nothing was done. The question has expired' };
    const { scope } = found;
    await requestFlatten(deps, {
      id: question,
      scope,
      staysStopped: true,
      by: actorOf(of),
      userId: owner.id,
    });
    return { text: `All positions are being closed for ${await nameOf(db, scope)}; new entries are stopped` };
  }

  async function mute(ms: number, { channel }: AnsweringChannel): Promise<string> {
    const until = new Date(clock.now().getTime() + ms);
    await muteUntil(db, { channelId: channel.id, until });
    return `Only critical notices are sent here until ${instantInZone(until, config.displayTimezone)}; the others follow then`;
  }

  /** Null: there is no such user. */
  async function findScope({ kind, name }: NamedScope): Promise<StopScope | null> {
    if (kind !== 'user' || name === null) return { kind, value: name };
    const key = typedUsernameKey(name);
    const user = key === null ? null : await findUserByKey(db, key);
    return user === null ? null : { kind, value: user.id };
  }

  return { carryOut, confirm };
}

const help = (isAdmin: boolean) =>
  isAdmin
    ? '/status, /positions, /stop [all | strategy <name> | token <name> | user <name>], /flatten [the same], /mute 1h'
    : '/status, /stop (your account)';

/** The owner of the channel, by the chat and the person in it. */
export const actorOf = ({ owner, chatId, personId }: AnsweringChannel & ChatPerson): AuditActor => ({
  kind: 'user',
  id: owner.id,
  name: owner.username,
  address: `Telegram chat ${chatId}, person ${personId}`,
  requestId: null,
});
