import { asc, desc, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Clock } from '#server/platform/clock.ts';
import type { Queryable, Tx } from '../db/database.ts';
import { auditLog } from '../db/schema.ts';
import type { Logger } from '../log.ts';
import { CHAIN_START, chainHashOf } from './audit-mac.ts';

/*
 * The chain of the audit trail. Entries are written without a place in it, so that writers never wait for each other.
 * One instance at a time gives those that are committed their sequence, without gaps, and the chain hash over the entry
 * before. An entry that becomes visible late gets a later sequence.
 */

/** Arbitrary advisory lock key. */
const SEAL_LOCK = 7_305_002;
const BATCH_ROWS = 500;
const EVERY_MS = 500;
const CHECKPOINT_EVERY_MS = 60_000;

/** The last sealed entry. */
export interface AuditTip {
  sequence: number;
  chainHash: Buffer;
}

/** One batch. `tip`: null when there was nothing to seal. */
interface SealRound {
  sealed: number;
  tip: AuditTip | null;
  isAll: boolean;
}

/** Gives new entries their places in the chain. Null while another instance does. */
export type Seal = () => Promise<SealRound | null>;

/** With it a cut tail is noticed. */
export const checkpointOf = ({ sequence, chainHash }: AuditTip): string =>
  `${sequence}:${chainHash.toString('hex')}`;

export async function readTip(db: Pick<Tx, 'select'>): Promise<AuditTip | null> {
  const [row] = await db
    .select({ sequence: auditLog.sequence, chainHash: auditLog.chainHash })
    .from(auditLog)
    .where(isNotNull(auditLog.sequence))
    .orderBy(desc(auditLog.sequence))
    .limit(1);
  if (row == null || row.sequence === null) return null;
  return { sequence: row.sequence, chainHash: row.chainHash ?? CHAIN_START };
}

/** Until the end of the transaction, nobody else seals. */
export async function lockSealing(tx: Tx): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${SEAL_LOCK})`);
}

/** Seals at most one batch. Null while another instance seals. */
export async function sealBatch(db: Queryable, key: Buffer): Promise<SealRound | null> {
  // Most rounds find nothing: one small statement without a transaction.
  const [waiting] = await db
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(isNull(auditLog.sequence))
    .limit(1);
  if (waiting === undefined) return { sealed: 0, tip: null, isAll: true };
  return db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ locked: boolean }>(
      sql`select pg_try_advisory_xact_lock(${SEAL_LOCK}) as locked`,
    );
    if (rows[0]?.locked !== true) return null;
    const found = await tx
      .select({ id: auditLog.id, rowMac: auditLog.rowMac })
      .from(auditLog)
      .where(isNull(auditLog.sequence))
      .orderBy(asc(auditLog.at), asc(auditLog.id))
      .limit(BATCH_ROWS);
    const tip = await sealRows(tx, { key, rows: found });
    return { sealed: found.length, tip, isAll: found.length < BATCH_ROWS };
  });
}

/** Appends these rows to the chain, under the lock. */
export async function sealRows(
  tx: Tx,
  { key, rows }: { key: Buffer; rows: readonly { id: string; rowMac: Buffer }[] },
): Promise<AuditTip | null> {
  let tip = await readTip(tx);
  const seals: { id: string; sequence: number; hash: string }[] = [];
  for (const { id, rowMac } of rows) {
    const sequence: number = (tip?.sequence ?? 0) + 1;
    const chainHash = chainHashOf(key, { previous: tip?.chainHash ?? CHAIN_START, sequence, rowMac });
    tip = { sequence, chainHash };
    seals.push({ id, sequence, hash: chainHash.toString('hex') });
  }
  const { rowCount } = await tx.execute(sql`
    update audit_log set sequence = seal.sequence, chain_hash = decode(seal.hash, 'hex')
    from json_to_recordset(${JSON.stringify(seals)}::json) as seal (id uuid, sequence bigint, hash text)
    where audit_log.id = seal.id and audit_log.sequence is null`);
  if (rowCount !== seals.length)
    throw new Error('An entry of the audit trail disappeared while it was sealed');
  return tip;
}

/**
 * Seals new entries within a second, and logs a checkpoint once a minute when there were any. The returned function
 * stops it after sealing and logging once more.
 */
export function startSealing(
  { audit, clock, log }: { audit: { seal: Seal }; clock: Clock; log: Logger },
  { everyMs = EVERY_MS, checkpointEveryMs = CHECKPOINT_EVERY_MS } = {},
): () => Promise<void> {
  let running: Promise<void> | null = null;
  let tip: AuditTip | null = null;
  let hasFailed = false;

  async function sealAll(): Promise<void> {
    for (;;) {
      const round = await audit.seal();
      if (round?.tip) tip = round.tip;
      if (round === null || round.isAll) return;
    }
  }

  function run(): Promise<void> {
    running ??= sealAll()
      .then(
        () => {
          hasFailed = false;
        },
        (error: unknown) => {
          // The next rounds fail for the same reason.
          if (!hasFailed) log.warn({ err: error }, 'the audit trail could not be sealed');
          hasFailed = true;
        },
      )
      .finally(() => {
        running = null;
      });
    return running;
  }

  function logCheckpoint(): void {
    if (tip === null) return;
    log.info({ checkpoint: checkpointOf(tip) }, 'audit trail checkpoint');
    tip = null;
  }

  const stops = [clock.every(everyMs, run), clock.every(checkpointEveryMs, logCheckpoint)];
  void run();
  return async () => {
    for (const stop of stops) stop();
    await running;
    await run();
    logCheckpoint();
  };
}
