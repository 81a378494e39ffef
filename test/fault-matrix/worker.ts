// A worker process of the matrix: plays the cases sent to it.
import { once } from 'node:events';
import type { ServerConnection } from '#server/platform/db/embedded.ts';
import { cloneDatabase } from '../app/test-database.ts';
import { type MatrixCase, playCases } from './run-case.ts';

export interface Task {
  server: ServerConnection;
  cases: MatrixCase[];
  explain: boolean;
}

const orphaned = () => process.exit(1);
process.on('disconnect', orphaned);
const [{ server, cases, explain }] = (await once(process, 'message')) as [Task];
await playCases({
  cases,
  explain,
  lanes: 4,
  createDatabase: () => cloneDatabase(server),
  onResult: (result) => process.send?.(result),
});
process.off('disconnect', orphaned);
process.disconnect();
