import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { StartError } from '#server/platform/db/start-error.ts';
import { splitLines } from '#server/platform/text-lines.ts';

/*
 * A backup is gzipped text: a header line; for every table, a line with its name and a line for each row as a JSON
 * object; and a last line with the number of rows. Without the last line the backup is incomplete.
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
];

export interface OpenBackup {
  header: BackupHeader;
  /** Batches of rows as JSON texts, table by table; throws a StartError if the file is incomplete. */
  batches(): AsyncGenerator<{ table: string; rows: string[] }>;
}

const BATCH_ROWS = 500;

export async function openBackup(path: string): Promise<OpenBackup> {
  const lines = linesOf(path);
  const first = await lines.next();
  const parsed = header.safeParse(parseJson(first.done ? '' : first.value));
  if (!parsed.success) throw new StartError(`${path} is not a backup of Signal Board`);

  async function* batches() {
    let table: string | null = null;
    let rows: string[] = [];
    let count = 0;
    for await (const line of lines) {
      if (line.startsWith('{"table":')) {
        if (table !== null && rows.length > 0) yield { table, rows };
        rows = [];
        table = tableLine.parse(parseJson(line)).table;
        continue;
      }
      if (line.startsWith('{"rows":')) {
        if (table !== null && rows.length > 0) yield { table, rows };
        const { success, data } = lastLine.safeParse(parseJson(line));
        if (!success || data.rows !== count) throw new StartError(`${path} is damaged: rows are missing`);
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
  return { header: parsed.data, batches };
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
