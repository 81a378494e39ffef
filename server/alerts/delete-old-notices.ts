import { sql } from 'drizzle-orm';
import type { Deps } from '#server/deps.ts';

const KEPT_DAYS = 90;
const BATCH = 1_000;

/** Notices are news: they go after 90 days, with who has read them, what was sent, and what a chat was asked. */
export async function deleteOldNotices({ db, clock }: Pick<Deps, 'clock' | 'db'>): Promise<void> {
  const before = new Date(clock.now().getTime() - KEPT_DAYS * 86_400_000);
  await db.execute(sql`delete from chat_questions where expires_at < ${before}`);
  for (;;) {
    const { rowCount } = await db.execute(sql`
      with old as (
        select id from notices where made_at < ${before} order by made_at limit ${BATCH} for update skip locked
      ), reads as (
        delete from notice_reads using old where notice_id = old.id
      ), sent as (
        delete from notice_deliveries using old where notice_id = old.id
      )
      delete from notices using old where notices.id = old.id`);
    if ((rowCount ?? 0) < BATCH) return;
  }
}
