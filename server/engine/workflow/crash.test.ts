import { expect, test } from 'vitest';
import { CRASH_STORIES, interrupt } from '#test/app/crash-stories.ts';
import { oneOfEachKind } from '#test/app/in-turn.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';

const engine = sharedTestEngine();

/** The same in another order of events, or in parts. */
const NEIGHBOURS = [
  'an order of a unified account whose stop is dropped',
  'a reversal that is refused after its close',
  'a reduction by a signal that the exchange fills in parts',
  'the closing in parts of a position that gets no stop',
];
// Requirements: workflows-7, workflows-12
test.each(oneOfEachKind(Object.entries(CRASH_STORIES), ([story]) => !NEIGHBOURS.includes(story)))(
  'repairs a crash in the middle of %s after a restart',
  async (_name, story) => {
    // About the middle of it; crash.long.test.ts interrupts after every change, and counts them.
    const afterChanges = Math.ceil(story.leastChanges * 0.6);
    expect(await interrupt(engine, story, { afterChanges })).toMatchObject({ died: true });
  },
);
