import { mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSocketFolder } from './embedded-folders.ts';

test('opens a socket folder even while ending programs keep removing it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'signal-board-folders-'));
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const folder = await openSocketFolder({ dataDir, owner });
  let removals = 0;
  const removeOnceAfter = async (turns: number) => {
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    await rmdir(folder).then(
      () => (removals += 1),
      () => {},
    );
  };
  try {
    // Each opening meets one removal, at a later turn of it every time.
    for (let round = 0; round < 300; round += 1) {
      const [opened] = await Promise.all([openSocketFolder({ dataDir, owner }), removeOnceAfter(round % 12)]);
      expect(opened).toBe(folder);
    }
    expect(removals).toBeGreaterThan(10);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(dataDir, { recursive: true });
  }
});
