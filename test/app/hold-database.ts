// Opens the embedded database of a folder, prints a line when it is open, and holds it until this process ends.
import { openDatabase } from '#server/platform/db/pool.ts';
import { StartError } from '#server/platform/db/start-error.ts';
import { createLog } from '#server/platform/log.ts';

const dataDir = process.argv[2] ?? '';
try {
  const database = await openDatabase({
    config: { databaseUrl: null, dataDir },
    log: createLog({ level: 'silent' }),
    onLost: (error) => {
      console.log(`lost: ${error.message}`);
      process.exit(1);
    },
  });
  process.once('SIGTERM', () => void database.close().then(() => process.exit(0)));
  const { rows } = await database.pool.query('select pg_postmaster_start_time()::text as started');
  console.log(`ready ${rows[0].started}`);
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.log(`refused: ${error.message}`);
  process.exitCode = 1;
}
