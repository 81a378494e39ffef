import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { StartError } from '#server/platform/db/start-error.ts';
import { createSecretBox } from '#server/platform/secret-box.ts';
import { splitLines } from '#server/platform/text-lines.ts';

/*
 * A backup is gzipped text: a header line; for every table, a line with its name and a line for each row as a JSON
 * object; a line with the number of rows, without which the backup is incomplete; and the signature, an HMAC of all
 * that is before it under a key derived from SECRET_KEY.
 */

export const FORMAT = 'signal-board-backup';

export const header = z.object({
  format: z.literal(FORMAT),
  version: z.literal(1),
  createdAt: z.string(),
  program: z.string(),
  /** Tells whether a SECRET_KEY is the one that sealed the backup's secrets, without revealing it. */
  keyCheck: z.string(),
  /** The check of the next key as the database has it, while a rotation of SECRET_KEY is not finished. */
  nextKeyCheck: z.string().exactOptional(),
  /** Hashes of the applied migrations, in order. */
  migrations: z.array(z.string()).min(1),
});
export type BackupHeader = z.infer<typeof header>;

/** Its name in the file, and the text below, are those of the first backups that had one. */
const signatureLine = z.strictObject({ seal: z.string().regex(/^[0-9a-f]{64}$/) });

/** Tells which SECRET_KEY sealed a backup's secrets, and reveals nothing else. */
export const backupCheckOf = (secretKey: string): string =>
  createSecretBox(secretKey).lookupHash('the key of this backup', 'backup').toString('hex');

/** Computes the signature of the backup whose lines it is fed. */
export const createBackupHmac = (secretKey: string): Hmac =>
  createHmac('sha256', createSecretBox(secretKey).lookupHash('the seal of this backup', 'backup'));

/** `unchecked`: there is a signature, and the key to check it is not known. */
type SignatureState = 'valid' | 'wrong' | 'missing' | 'unchecked';

const tableLine = z.object({ table: z.string().regex(/^[a-z_]+$/) });
export const lastLine = z.object({ rows: z.number().int().min(0), whole: z.literal(true) });

/**
 * Tables whose rows are useless or harmful in a restored database: sessions, workers and limits of earlier processes,
 * and rows that are derived from other tables.
 */
export const LEFT_OUT: readonly string[] = [
  'sessions',
  'half_sign_ins',
  'passkey_challenges',
  'rate_limits',
  'password_guesses',
  'known_addresses',
  'leases',
  'engine_workers',
  'instances',
  'engine_restarts',
  'engine_restart_answers',
  'exchange_slots',
  'exchange_preparations',
  'account_readings',
  'workflow_prices',
  'account_figures',
  // The next start writes it, because it knows the key.
  'secret_key_checks',
  // Rebuilt from the price logs.
  'price_log_hashes',
  // The triggers on closed positions fill them as those are restored.
  'closed_position_totals',
  // The triggers on workflows fill them.
  'signal_outcomes',
  'list_outcome_totals',
  'list_outcome_changes',
  'trade_results',
  'performance_totals',
  'performance_days',
  // The triggers of trades, and whoever adds them up.
  'order_changes',
  'order_totals',
  // Made again on request.
  'statement_archives',
];

export interface OpenBackup {
  header: BackupHeader;
  /** Batches of rows as JSON texts, table by table, to be read once; throws a StartError if the file is incomplete. */
  batches(): AsyncGenerator<{ table: string; rows: string[] }>;
  /** Checks the signature with this key while the batches are read. */
  checkWith(secretKey: string): void;
  /** The tables and the state of the signature, once all batches have been read. */
  contents(): { tables: readonly string[]; signature: SignatureState };
}

const BATCH_ROWS = 500;

export async function openBackup(path: string): Promise<OpenBackup> {
  const lines = linesOf(path);
  const first = await lines.next();
  const parsed = header.safeParse(parseJson(first.done ? '' : first.value));
  if (!parsed.success) throw new StartError(`${path} is not a backup of Signal Board`);

  const tables: string[] = [];
  let expected: Hmac | null = null;
  let signature: SignatureState = 'missing';

  function checkSignature(line: string): void {
    const { success, data } = signatureLine.safeParse(parseJson(line));
    if (!success) throw new StartError(`${path} is damaged: something follows its end`);
    const found = Buffer.from(data.seal, 'hex');
    signature =
      expected === null ? 'unchecked' : timingSafeEqual(expected.digest(), found) ? 'valid' : 'wrong';
  }

  async function readEnd(): Promise<void> {
    const last = await lines.next();
    if (last.done) return;
    checkSignature(last.value);
    if (!(await lines.next()).done) throw new StartError(`${path} is damaged: something follows its end`);
  }

  async function* readBatches() {
    let table: string | null = null;
    let rows: string[] = [];
    let count = 0;
    for (;;) {
      const { done, value: line } = await lines.next();
      if (done) break;
      expected?.update(`${line}\n`);
      if (line.startsWith('{"table":')) {
        if (table !== null && rows.length > 0) yield { table, rows };
        rows = [];
        const parsed = tableLine.safeParse(parseJson(line));
        if (!parsed.success) throw new StartError(`${path} is damaged: a table has no name`);
        table = parsed.data.table;
        tables.push(table);
        continue;
      }
      if (line.startsWith('{"rows":')) {
        if (table !== null && rows.length > 0) yield { table, rows };
        const { success, data } = lastLine.safeParse(parseJson(line));
        if (!success || data.rows !== count) throw new StartError(`${path} is damaged: rows are missing`);
        await readEnd();
        return;
      }
      if (table === null) throw new StartError(`${path} is damaged: a row belongs to no table`);
      // A leading space marks a row; the other lines start with '{'.
      rows.push(line.slice(1));
      count += 1;
      if (rows.length < BATCH_ROWS) continue;
      yield { table, rows };
      rows = [];
    }
    throw new StartError(`${path} is not whole: its end is missing`);
  }

  async function* batches() {
    try {
      yield* readBatches();
    } finally {
      await lines.return(undefined);
    }
  }

  return {
    header: parsed.data,
    batches,
    checkWith(secretKey) {
      expected = createBackupHmac(secretKey).update(`${first.value}\n`);
    },
    contents: () => ({ tables, signature }),
  };
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const unzipped = file.pipe(createGunzip());
  file.on('error', (error) => unzipped.destroy(error));
  try {
    yield* splitLines(unzipped);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new StartError(`${path} cannot be read: ${error.message}`);
  } finally {
    file.destroy();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
