import { afterEach, beforeEach, test } from 'vitest';
import { type Kill, MESSAGES, startMessageStory } from '#test/app/message-story.ts';
import { programFolder } from '#test/app/program-folder.ts';

const folder = programFolder();
let story: Awaited<ReturnType<typeof startMessageStory>>;
beforeEach(async () => {
  story = await startMessageStory(folder.cluster());
});
afterEach(() => story.close());

// Requirements: additions-alerts-8
test.each(['before the answer', 'after the answer'] as const)(
  'a program that is killed at every message, %s, loses none, keeps their order and repeats under the same id',
  async (when: Kill['when']) => {
    const env = { NOTIFY_PRIVATE_ADDRESSES: 'allowed' };
    let program = await folder.start(env);
    await story.addChannel(program);
    let gone = story.killedAt(program, { message: 0, when });
    await story.note();
    for (let message = 0; message < MESSAGES; message += 1) {
      await gone;
      program = await folder.start(env);
      if (message + 1 < MESSAGES) gone = story.killedAt(program, { message: message + 1, when });
    }
    await story.expectAllInOrder();
  },
  180_000,
);

// Requirements: additions-alerts-8
test('a program that is killed while it makes messages of events makes each once', async () => {
  const env = { NOTIFY_PRIVATE_ADDRESSES: 'allowed' };
  const first = await folder.start(env);
  await story.addChannel(first);
  const noting = story.note();
  await first.kill9();
  await noting;
  // Each is killed as soon as it takes requests: events and messages are made within its first second.
  for (let start = 0; start < 3; start += 1) await (await folder.start(env)).kill9();
  await folder.start(env);
  await story.expectAllInOrder();
}, 120_000);
