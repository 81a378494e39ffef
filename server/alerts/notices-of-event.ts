import { eq, inArray } from 'drizzle-orm';
import { NOTICES, type NoticeCode, type NoticeData, type NoticeSubject } from '#contract/notices.ts';
import type { UserOutcome } from '#contract/outcome.ts';
import { D, isPositive, toPlain } from '#domain/decimal.ts';
import type { TradeRow } from '#server/engine/records/trades.store.ts';
import { listUserOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import { findWorkflowWithSignal } from '#server/engine/records/workflows.store.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import {
  closedPositions,
  type noticeEvents,
  type notices,
  trades,
  users,
} from '#server/platform/db/schema.ts';
import { noticeText, signedMoney, topReasons } from './notice-text.ts';

export type StoredEvent = typeof noticeEvents.$inferSelect;
/** What is to be told, and to whom. */
export type NewNotice = Omit<typeof notices.$inferInsert, 'id' | 'madeAt' | 'heldUntil'>;

interface Person {
  id: string;
  username: string;
  isAdmin: boolean;
}

/** The notices about an event: for the user whom it concerns, and for the administrators. */
export async function noticesOf(db: Queryable, event: StoredEvent, now: Date): Promise<NewNotice[]> {
  const { code, workflowId, tradeId, userId } = event;
  const at = event.at ?? now;
  const data = event.data ?? {};
  if (code === null) return [];
  if (code === 'workflow_ended') return workflowId === null ? [] : noticesOfWorkflow(db, { workflowId, at });
  const trade = tradeId === null ? null : await findTrade(db, tradeId);
  const people = await findPeople(db, userId === null ? [] : [userId]);
  const person = userId === null ? null : (people.get(userId) ?? null);
  if (code === 'trade_ended')
    return trade === null || person === null ? [] : noticesOfTrade(trade, { person, at });
  // Its notice is made some seconds later: by then the stop may be there again.
  if (code === 'position_without_stop' && trade !== null && trade.unprotectedSince === null) return [];
  const ofTrade = trade === null ? {} : { token: trade.token, side: trade.side };
  const values: NoticeData = { user: person?.username ?? null, ...ofTrade, ...data };
  const closed = code === 'position_closed' ? await closingOf(db, { trade, data }) : {};
  const told = {
    code,
    at,
    person,
    subject: subjectOf({ person, trade, data }),
    values: { ...values, ...closed },
  };
  // A summary of one's own day is not repeated to the administrators, who get the one of all users.
  if (code === 'daily_summary' && person !== null)
    return [toPerson(told, person)].filter(() => !person.isAdmin);
  return tell(told);
}

interface Told {
  code: NoticeCode;
  at: Date;
  person: Person | null;
  subject: NoticeSubject;
  values: NoticeData;
}

const toAdministrators = ({ code, at, subject, values }: Omit<Told, 'person'>): NewNotice => ({
  code,
  severity: NOTICES[code].severity,
  at,
  text: noticeText(code, values),
  link: linkOf(code, subject),
  subject,
  data: values,
  recipientId: null,
});

/** Without the ids that it needs, the link leads to the list. */
export function linkOf(code: NoticeCode, subject: NoticeSubject): string {
  const { link } = NOTICES[code];
  const [path = link] = link.split('?');
  let isWhole = true;
  const filled = link.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = subject[name as keyof NoticeSubject];
    isWhole &&= id !== undefined;
    return id ?? '';
  });
  return isWhole ? filled : path;
}

/** Ordinary users have no screens of the system: they are led to their dashboard. */
const toPerson = (told: Omit<Told, 'person'>, person: Person): NewNotice => ({
  ...toAdministrators(told),
  link: '/',
  recipientId: person.id,
});

/** Administrators are told once, also about themselves. */
function tell(told: Told): NewNotice[] {
  const { person, code } = told;
  const isForUser = NOTICES[code].to === 'user' && person !== null && !person.isAdmin;
  return [toAdministrators(told), ...(isForUser ? [toPerson(told, person)] : [])];
}

function subjectOf({
  person,
  trade,
  data = {},
}: {
  person: Person | null;
  trade: TradeRow | null;
  data?: NoticeData;
}): NoticeSubject {
  const token = trade?.token ?? data.token;
  return {
    ...(person === null ? {} : { userId: person.id, username: person.username }),
    ...(typeof token === 'string' ? { token } : {}),
    ...(trade === null ? {} : { tradeId: trade.id, signalId: trade.signalId }),
    ...(trade?.workflowId ? { workflowId: trade.workflowId } : {}),
  };
}

async function findTrade(db: Queryable, id: string): Promise<TradeRow | null> {
  const [row] = await db.select().from(trades).where(eq(trades.id, id));
  return row ?? null;
}

async function findPeople(db: Queryable, ids: readonly string[]): Promise<Map<string, Person>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: users.id, username: users.username, isAdmin: users.isAdmin })
    .from(users)
    .where(isOneOf(users.id, ids));
  return new Map(rows.map((row) => [row.id, row]));
}

/** An order by hand, or one that was settled after its workflow had ended. */
function noticesOfTrade(trade: TradeRow, { person, at }: { person: Person; at: Date }): NewNotice[] {
  const isFilled = isPositive(trade.filledQuantity) && trade.success === true;
  const values = {
    user: person.username,
    ...outcomeValues(trade, {
      reason: trade.error,
      filledQuantity: trade.filledQuantity,
      averagePrice: trade.averagePrice,
    }),
  };
  const code = isFilled ? 'trade_filled' : 'order_not_filled';
  return tell({ code, at, person, subject: subjectOf({ person, trade }), values });
}

const outcomeValues = (
  { token, side }: { token: string; side: string },
  { reason, filledQuantity, averagePrice }: Pick<UserOutcome, 'reason' | 'filledQuantity' | 'averagePrice'>,
) => ({
  token,
  side,
  quantity: filledQuantity === null ? null : toPlain(filledQuantity),
  price: averagePrice === null ? null : toPlain(averagePrice),
  reason: reason ?? 'no reason was given',
});

/** The end of a workflow tells each user, and the administrators once for every kind of outcome. */
async function noticesOfWorkflow(
  db: Queryable,
  { workflowId, at }: { workflowId: string; at: Date },
): Promise<NewNotice[]> {
  const found = await findWorkflowWithSignal(db, workflowId);
  if (found === null) return [];
  const { workflow, signal } = found;
  const about = { token: workflow.token, side: signal.action };
  const subject = {
    token: workflow.token,
    processor: workflow.processor,
    signalId: workflow.signalId,
    workflowId,
  };
  if (workflow.status === 'failed') {
    const values = { ...about, reason: workflow.errorMessage };
    return [toAdministrators({ code: 'workflow_failed', at, subject, values })];
  }
  if (workflow.status !== 'completed') return [];
  const outcomes = await listUserOutcomes(db, workflow);
  const people = await findPeople(db, [...outcomes.keys()]);
  const tradeIds = await listTradeIds(db, workflowId);
  const parts = [...outcomes].flatMap(([userId, outcome]) => {
    const person = people.get(userId);
    if (person === undefined) return [];
    const tradeId = tradeIds.get(userId);
    const ofUser = { ...subject, userId, username: person.username, ...(tradeId && { tradeId }) };
    const values = { user: person.username, ...outcomeValues(about, outcome) };
    return [{ person, kind: outcome.kind, subject: ofUser, values }];
  });
  const filled = parts.filter(({ kind }) => kind === 'filled' || kind === 'partial');
  const notFilled = parts.filter(({ kind }) => kind === 'not_filled');
  const skipped = parts.filter(({ kind }) => kind === 'skipped');
  const nobody = [...notFilled, ...skipped].map(({ values }) => values.reason);
  const reasons = nobody.length > 0 ? topReasons(nobody) : (workflow.topReason ?? 'no user was eligible');
  return [
    ...collected('trade_filled', { parts: filled, about, subject, at }),
    ...collected('order_not_filled', { parts: notFilled, about, subject, at }),
    ...(filled.length > 0
      ? []
      : [
          toAdministrators({
            code: 'signal_filled_nobody',
            at,
            subject,
            values: { ...about, count: nobody.length, reasons },
          }),
        ]),
  ];
}

interface Part {
  person: Person;
  subject: NoticeSubject;
  values: NoticeData & { reason: string };
}

/** As many users as a message can list. */
const MOST_LISTED = 100;

function collected(
  code: NoticeCode,
  {
    parts,
    about,
    subject,
    at,
  }: { parts: readonly Part[]; about: { token: string; side: string }; subject: NoticeSubject; at: Date },
): NewNotice[] {
  const [first] = parts;
  if (first === undefined) return [];
  const own = parts
    .filter(({ person }) => !person.isAdmin)
    .map((part) => toPerson({ code, at, subject: part.subject, values: part.values }, part.person));
  if (parts.length === 1) return [toAdministrators({ code, at, ...first }), ...own];
  const values = {
    ...about,
    count: parts.length,
    reasons: topReasons(parts.map((part) => part.values.reason)),
    users: parts.slice(0, MOST_LISTED).map((part) => part.values),
  };
  return [
    { ...toAdministrators({ code, at, subject, values }), text: noticeText(code, values, 'many') },
    ...own,
  ];
}

async function listTradeIds(db: Queryable, workflowId: string): Promise<Map<string, string>> {
  const rows = await db
    .select({ id: trades.id, userId: trades.userId })
    .from(trades)
    .where(inArray(trades.workflowId, [workflowId]));
  return new Map(rows.map(({ id, userId }) => [userId, id]));
}

/** Profit after fees, and in multiples of what the stop would have cost. */
async function closingOf(
  db: Queryable,
  { trade, data }: { trade: TradeRow | null; data: NoticeData },
): Promise<NoticeData> {
  const [row] = await db
    .select()
    .from(closedPositions)
    .where(eq(closedPositions.id, String(data.closedPositionId)));
  if (row === undefined) return { result: 'its result is not known', how: 'closed' };
  const { realisedProfit, fees, closedBy, side, token } = row;
  const values = { side, token, quantity: toPlain(row.quantity), how: closedBy };
  if (realisedProfit === null) return { ...values, result: 'its profit is not known' };
  const net = D(realisedProfit).minus(fees ?? 0);
  const entry = trade?.averagePrice ?? row.entryPrice;
  const risk = trade === null ? D(0) : D(entry).minus(trade.stopLoss).abs().times(row.quantity);
  const r = risk.isPositive() && !risk.isZero() ? net.div(risk).toFixed(2) : null;
  const result = `net ${signedMoney(net.toString())} USDT${r === null ? '' : ` (${r.replace('-', '−')} R)`}`;
  return { ...values, net: toPlain(net), r, result };
}
