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
  let isOpening = true;
  let removals = 0;
  const remove = async () => {
    while (isOpening) {
      await rmdir(folder).then(
        () => (removals += 1),
        () => {},
      );
      for (let turn = 0; turn <= removals % 3; turn += 1) await nextTurn();
    }
  };
  const remover = remove();
  try {
    for (let round = 0; round < 300; round += 1) {
      expect(await openSocketFolder({ dataDir, owner })).toBe(folder);
    }
    expect(removals).toBeGreaterThan(10);
  } finally {
    isOpening = false;
    await remover;
    await rm(folder, { recursive: true, force: true });
    await rm(dataDir, { recursive: true });
  }
});
