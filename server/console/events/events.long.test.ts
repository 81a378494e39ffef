import { afterAll, expect, test } from 'vitest';
import { openStream } from '#test/app/test-events.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld } from '#test/world.ts';

const board = await startWorld();
const origin = await board.app.listen({ host: '127.0.0.1', port: 0 });
afterAll(() => board.close());

test('announces a new signal within a second, and open streams do not delay a shutdown', async () => {
  const sender = await createSender({ app: board.app, client: board.admin });
  const stream = await openStream(origin, board.admin.cookie);
  await stream.wait(({ heard }) => heard.some(({ event }) => event === 'ready'));
  const sentAt = Date.now();
  expect((await sender.signal()).statusCode).toBe(200);
  await stream.wait((one) => one.changes().find(({ topic }) => topic === 'signals'));
  expect((stream.heard.at(-1)?.at ?? Number.POSITIVE_INFINITY) - sentAt).toBeLessThan(1_000);
  const closedAt = Date.now();
  await board.app.close();
  await stream.ended;
  expect(Date.now() - closedAt).toBeLessThan(1_500);
});
