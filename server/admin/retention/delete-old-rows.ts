import type pg from 'pg';
import { OLDEST_SIGNAL_DAYS } from '#domain/workflow/workflow-lifecycle.ts';
import type { Deps } from '#server/deps.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { drizzleOn } from '#server/platform/db/drizzle-over.ts';
import { forgetRows } from '#server/platform/db/list-totals/add-up-list.ts';
import type { DatabaseConnection } from '#server/platform/db/pool.ts';
import { eachAlone } from '#server/platform/each-alone.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import { deleteOldLeases } from '#server/platform/jobs/leases.ts';
import { withRetentionClient } from './retention-client.ts';

const DAY_MS = 24 * 3_600_000;
const ROWS_LOCK = 5_128_313;
const BATCH = 500;

export interface OldRowsDeps extends Pick<Deps, 'clock' | 'log' | 'metrics'> {
  config: Pick<
    Deps['config'],
    | 'signalHashRetentionDays'
    | 'workflowRetentionDays'
    | 'workflowStepRetentionDays'
    | 'calculationRetentionDays'
    | 'orderEventRetentionDays'
  >;
}

/** One rule for deleting old rows. Walks a table in the order of its time-ordered ids. */
interface Kind {
  /** The table whose rows are deleted. */
  table: 'signal_hashes' | 'workflows' | 'workflow_steps' | 'position_generator_logs' | 'trade_events';
  /** The table that is walked; `old` in `isKept`. */
  walked: string;
  /** SQL that is true for an old row that stays. Rows from before $1 are old. */
  isKept: string;
  /** 0 keeps all rows. */
  days: (config: OldRowsDeps['config']) => number;
  remove: (tx: Tx, client: pg.Client, found: Found) => Promise<number>;
}

interface WalkedRow {
  id: string;
  kept: boolean;
}

interface Found {
  ids: string[];
  /** The range [from, to) holds these ids and no other row of the table. */
  from: string;
  to: string;
}

const deleted =
  (text: string) =>
  async (_tx: Tx, client: pg.Client, { ids }: Found): Promise<number> =>
    (await client.query(text, [ids])).rowCount ?? 0;

/** Orders of an unfinished workflow may still change it and its steps. */
const isUnfinished = (workflowId: string) => `exists (
  select from workflows where id = ${workflowId} and status in ('pending', 'processing')
) or exists (select from trades where workflow_id = ${workflowId} and state <> 'done')`;

const KINDS: readonly Kind[] = [
  {
    // A signal without its own time counts as new again after a minute. Keep its hash for a day because clocks differ.
    table: 'signal_hashes',
    walked: 'signals',
    isKept: 'old.signal_time_server is not null',
    days: () => 1,
    remove: deleted(`delete from signal_hashes using signals where signals.id = any ($1)
      and signal_hashes.hash_value = signals.hash_value and signal_hashes.signal_id = signals.id and not lasting`),
  },
  {
    // A repeated signal older than OLDEST_SIGNAL_DAYS is not traded anyway. One more day because clocks differ.
    table: 'signal_hashes',
    walked: 'signals',
    isKept: 'old.signal_time_server is null or old.signal_time_server >= $1',
    days: ({ signalHashRetentionDays: days }) => (days === 0 ? 0 : Math.max(days, OLDEST_SIGNAL_DAYS) + 1),
    remove: deleted(`delete from signal_hashes using signals where signals.id = any ($1)
      and signal_hashes.hash_value = signals.hash_value and signal_hashes.signal_id = signals.id`),
  },
  {
    table: 'workflow_steps',
    walked: 'workflow_steps',
    isKept: isUnfinished('old.workflow_id'),
    days: (config) => config.workflowStepRetentionDays,
    remove: deleted('delete from workflow_steps where id = any ($1)'),
  },
  {
    table: 'workflows',
    walked: 'workflows',
    isKept: isUnfinished('old.id'),
    days: (config) => config.workflowRetentionDays,
    async remove(tx, client, { ids, from, to }) {
      // List totals count only rows that are kept.
      await forgetRows(tx, 'workflows', { from, to });
      await client.query('delete from workflow_steps where workflow_id = any ($1)', [ids]);
      await client.query('delete from decisions where workflow_id = any ($1)', [ids]);
      await client.query('delete from workflow_prices where workflow_id = any ($1)', [ids]);
      await client.query('delete from workflow_users where workflow_id = any ($1)', [ids]);
      return (await client.query('delete from workflows where id = any ($1)', [ids])).rowCount ?? 0;
    },
  },
  {
    table: 'position_generator_logs',
    walked: 'position_generator_logs',
    // Orders reference their calculation.
    isKept: `exists (select from trades where position_generator_log_id = old.id)
      or ${isUnfinished('old.workflow_id')}`,
    days: (config) => config.calculationRetentionDays,
    remove: deleted('delete from position_generator_logs where id = any ($1)'),
  },
  {
    table: 'trade_events',
    walked: 'trade_events',
    isKept: `exists (select from trades where id = old.trade_id and state <> 'done')`,
    days: (config) => config.orderEventRetentionDays,
    remove: deleted('delete from trade_events where id = any ($1)'),
  },
];

type DeleteOldRows = (options: { connection: DatabaseConnection; signal?: AbortSignal }) => Promise<void>;

/**
 * Deletes rows that are older than their setting allows, in small batches, in one instance at a time. A process checks
 * each old row that stays only once.
 */
export function createDeleteOldRows({ clock, config, log, metrics }: OldRowsDeps): DeleteOldRows {
  const walkedTo = new Map<Kind, string>();

  async function walk(client: pg.Client, kind: Kind, before: Date): Promise<number> {
    let count = 0;
    for (;;) {
      const after = walkedTo.get(kind) ?? firstIdOf(new Date(0));
      const end = firstIdOf(before);
      const { rows } = await client.query<WalkedRow>(
        `select id, (${kind.isKept}) as kept from ${kind.walked} as old
         where $1::timestamptz is not null and id > $2 and id < $3 order by id limit ${BATCH}`,
        [before, after, end],
      );
      const isLast = rows.length < BATCH;
      // The last row of a full batch starts the next batch, because the row after it is not known yet.
      const looked = isLast ? rows : rows.slice(0, -1);
      for (const found of between(rows, looked, end)) {
        count += await drizzleOn(client).transaction((tx) => kind.remove(tx, client, found));
      }
      const last = looked.at(-1);
      if (last !== undefined) walkedTo.set(kind, last.id);
      if (isLast) return count;
    }
  }

  return async ({ connection, signal }) => {
    await withRetentionClient({ connection, lock: ROWS_LOCK, ...(signal && { signal }) }, async (client) => {
      metrics.rowsDeleted('leases', await deleteOldLeases(drizzleOn(client)));
      const failures: unknown[] = [];
      const clean = async (kind: Kind) => {
        const days = kind.days(config);
        if (days === 0) return;
        const count = await walk(client, kind, new Date(clock.now().getTime() - days * DAY_MS));
        metrics.rowsDeleted(kind.table, count);
        if (count > 0) log.info({ table: kind.table, rows: count, keptDays: days }, 'deleted old rows');
      };
      await eachAlone(KINDS, clean, (err, { table }) => {
        failures.push(err);
        log.warn({ err, table }, 'old rows of a table could not be deleted');
      });
      if (failures.length > 0) throw failures[0];
    });
  };
}

/** Rows to delete, grouped into runs without a kept row in between. `rows` may hold one more row than `looked`. */
function between(rows: readonly WalkedRow[], looked: readonly WalkedRow[], end: string): Found[] {
  const runs: Found[] = [];
  for (const [index, { id, kept }] of looked.entries()) {
    if (kept) continue;
    const to = rows[index + 1]?.id ?? end;
    const run = looked[index - 1]?.kept === false ? runs.at(-1) : undefined;
    if (run === undefined) {
      runs.push({ ids: [id], from: id, to });
    } else {
      run.ids.push(id);
      run.to = to;
    }
  }
  return runs;
}
