// A process of the matrix: plays the groups that it is sent, on several lanes, until it is told that there are
// no more.
import type { ServerConnection } from '#server/platform/db/embedded.ts';
import { cloneDatabase } from '../app/test-database.ts';
import { type Group, openLane } from './groups.ts';

/** While one waits for its database, or for an exchange that never answers, others work. */
const LANES = 4;

const server = JSON.parse(process.argv[2] ?? 'null') as ServerConnection;
const explain = process.argv[3] === 'explain';
const tell = (message: unknown) => process.send?.(message);

async function work(): Promise<void> {
  const lane = openLane({ createDatabase: () => cloneDatabase(server), explain });
  for (;;) {
    const group = await nextGroup();
    if (group === null) break;
    await lane.run(group, (result) => tell({ result }));
  }
  await lane.close();
}

const asking: ((group: Group | null) => void)[] = [];
process.on('message', (answer: Group | 'done') => asking.shift()?.(answer === 'done' ? null : answer));

function nextGroup(): Promise<Group | null> {
  return new Promise((resolve) => {
    asking.push(resolve);
    tell('ready');
  });
}

const orphaned = () => process.exit(1);
process.on('disconnect', orphaned);
await Promise.all(Array.from({ length: LANES }, work));
process.off('disconnect', orphaned);
process.disconnect();
