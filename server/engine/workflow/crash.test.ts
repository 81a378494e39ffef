import { expect, test } from 'vitest';
import { CRASH_STORIES, interrupt } from '#test/app/crash-stories.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';

const engine = sharedTestEngine();

// Requirements: workflows-7, workflows-12
test.each(Object.entries(CRASH_STORIES))(
  'repairs a crash in the middle of %s after a restart',
  async (_name, story) => {
    // About the middle of it; crash.long.test.ts interrupts after every change, and counts them.
    const afterChanges = Math.ceil(story.leastChanges * 0.6);
    expect(await interrupt(engine, story, { afterChanges })).toMatchObject({ died: true });
  },
);
