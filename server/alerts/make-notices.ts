import { and, asc, gt, inArray, isNull, lte, sql } from 'drizzle-orm';
import { NOTICES, type NoticeCode } from '#contract/notices.ts';
import type { Deps } from '#server/deps.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { isDatabaseUnavailable } from '#server/platform/db/database-errors.ts';
import { noticeEvents, notices } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';
import { noticeText, topReasons } from './notice-text.ts';
import { linkOf, type NewNotice, noticesOf, type StoredEvent } from './notices-of-event.ts';
import { fillOutbox } from './outbox.store.ts';

type MakerDeps = Pick<Deps, 'clock' | 'db' | 'log'>;
type NoticeRow = typeof notices.$inferSelect;

const BATCH = 200;
/** After a notice, others of its kind for the same recipient are told together, once a minute. */
const TOGETHER_MS = 60_000;
/** A stop that is missing for a moment is placed again within it. */
const NO_STOP_MS = 3_000;

/** Whether there is anything to make; asked every second, so it reads nothing but the ends of two indexes. */
export async function hasNoticesToMake({ clock, db }: MakerDeps): Promise<boolean> {
  const { rows } = await db.execute<{ has: boolean }>(sql`
    select exists (select from notice_events)
      or exists (select from notices where held_until is not null and held_until <= ${clock.now()}) as has`);
  return rows[0]?.has === true;
}

/**
 * Makes notices and messages of events, each event once: it is deleted in the transaction that writes them, under the
 * lease that lets one instance do this. Returns whether more are left.
 */
export async function makeNotices(deps: MakerDeps, lease: Lease): Promise<boolean> {
  const { db, clock } = deps;
  const found = await db.select().from(noticeEvents).orderBy(asc(noticeEvents.id)).limit(BATCH);
  const events = found.filter((event) => !waits(event, clock.now()));
  const drafts: NewNotice[] = [];
  for (const event of events) drafts.push(...(await noticesOfSafely(deps, event)));
  await db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const now = clock.now();
    const ids = events.map(({ id }) => id);
    if (ids.length > 0) await tx.delete(noticeEvents).where(inArray(noticeEvents.id, ids));
    const told = await takeHeld(tx, now);
    const lastTold = await listLastTold(tx, now);
    for (const one of told) lastTold.set(keyOf(one), now);
    const held: NoticeRow[] = [];
    for (const draft of drafts) {
      const before = lastTold.get(keyOf(draft));
      const row = {
        ...draft,
        id: timeOrderedId(),
        madeAt: now,
        heldUntil: null,
        recipientId: draft.recipientId ?? null,
      };
      if (before === undefined || isCollected(draft.code)) {
        lastTold.set(keyOf(draft), now);
        told.push(row);
      } else {
        held.push({ ...row, heldUntil: new Date(before.getTime() + TOGETHER_MS) });
      }
    }
    if (told.length + held.length > 0) await tx.insert(notices).values([...told, ...held]);
    await fillOutbox(tx, { notices: told, now });
  });
  return found.length === BATCH && events.length > 0;
}

const waits = ({ code, at }: StoredEvent, now: Date): boolean =>
  code === 'position_without_stop' && at !== null && now.getTime() - at.getTime() < NO_STOP_MS;

const isCollected = (code: NoticeCode): boolean => 'collected' in NOTICES[code];

const keyOf = ({ code, recipientId }: { code: NoticeCode; recipientId?: string | null | undefined }) =>
  `${code} ${recipientId ?? ''}`;

/** An event that nothing can be made of is dropped and logged: it must not stop the others. */
async function noticesOfSafely({ clock, db, log }: MakerDeps, event: StoredEvent): Promise<NewNotice[]> {
  try {
    return await noticesOf(db, event, clock.now());
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    log.error({ err: error, code: event.code, eventId: event.id }, 'no notice could be made of an event');
    return [];
  }
}

/** When each kind was last told to each recipient within the last minute. */
async function listLastTold(tx: Tx, now: Date): Promise<Map<string, Date>> {
  const rows = await tx
    .select({
      code: notices.code,
      recipientId: notices.recipientId,
      at: sql<Date>`max(${notices.madeAt})`.mapWith(notices.madeAt),
    })
    .from(notices)
    .where(and(gt(notices.madeAt, new Date(now.getTime() - TOGETHER_MS)), isNull(notices.heldUntil)))
    .groupBy(notices.code, notices.recipientId);
  return new Map(rows.map((row) => [keyOf(row), row.at]));
}

/** Takes the notices whose minute is over out of the table, and puts those of a kind together. */
async function takeHeld(tx: Tx, now: Date): Promise<NoticeRow[]> {
  const due = await tx
    .select({ code: notices.code, recipientId: notices.recipientId })
    .from(notices)
    .where(lte(notices.heldUntil, now));
  if (due.length === 0) return [];
  const kinds = new Set(due.map(keyOf));
  const all = await tx
    .select()
    .from(notices)
    .where(sql`${notices.heldUntil} is not null`)
    .orderBy(asc(notices.id));
  const taken = all.filter((row) => kinds.has(keyOf(row)));
  await tx.delete(notices).where(
    inArray(
      notices.id,
      taken.map(({ id }) => id),
    ),
  );
  return [...Map.groupBy(taken, keyOf).values()].map((of) => togetherOf(of, now));
}

const MOST_LISTED = 50;

function togetherOf(of: readonly NoticeRow[], now: Date): NoticeRow {
  const last = of.at(-1) as NoticeRow;
  const fresh = { ...last, id: timeOrderedId(), madeAt: now, heldUntil: null };
  if (of.length === 1) return fresh;
  const texts = of.map(({ text }) => text);
  const reasons = of.map(({ data, text }) => (typeof data.reason === 'string' ? data.reason : text));
  const values = {
    ...last.data,
    count: of.length,
    reasons: topReasons(reasons),
    notices: texts.slice(0, MOST_LISTED),
  };
  return {
    ...fresh,
    text: noticeText(last.code, values, 'many'),
    // What only the last of them is about would be wrong of all.
    subject: of.every(({ subject }) => subject.userId === last.subject.userId) ? pickUser(last.subject) : {},
    link: last.recipientId === null ? linkOf(last.code, {}) : last.link,
    data: { count: of.length, reasons: values.reasons, notices: values.notices },
  };
}

const pickUser = ({ userId, username }: NoticeRow['subject']) => ({
  ...(userId === undefined ? {} : { userId }),
  ...(username === undefined ? {} : { username }),
});
