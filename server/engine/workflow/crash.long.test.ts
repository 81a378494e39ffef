import { expect, test } from 'vitest';
import { CRASH_STORIES, interrupt } from '#test/app/crash-stories.ts';
import type { CrashAt } from '#test/app/crashing-database.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
// Every story in the middle.
import './crash.test.ts';

const engine = sharedTestEngine();

/**
 * Crashes a process after every external change, which covers every state that a successor can find, and at every n-th
 * of all statements, requests and answers. 1 tries each of them and takes some minutes.
 */
const STRIDE = Number(process.env.CRASH_STRIDE ?? '17');

// Requirements: workflows-7, workflows-12
test.each(Object.entries(CRASH_STORIES))(
  'repairs a crash at any point of %s after a restart',
  async (_name, story) => {
    const interruptEach = async (pointAt: (n: number) => CrashAt) => {
      for (let n = 0; ; n += 1) {
        const run = await interrupt(engine, story, pointAt(n));
        if (!run.died) return run;
      }
    };
    const { points } = await interruptEach((n) => 1 + n * STRIDE);
    expect(points).toBeGreaterThan(story.leastPoints);
    const { changes } = await interruptEach((n) => ({ afterChanges: n }));
    expect(changes).toBeGreaterThan(story.leastChanges);
  },
  900_000,
);
