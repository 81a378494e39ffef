import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { NoticeCode } from '#contract/notices.ts';
import type { NotificationsAnswer } from '#contract/notifications.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import type { TestClient } from '#test/app/test-client.ts';
import { openStream } from '#test/app/test-events.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';
import { makeNotices } from './make-notices.ts';

const PATH = '/api/notifications';

let board: World;
let ann: TestUser;
let bob: TestUser;

beforeAll(async () => {
  board = await startWorld();
  ann = await board.createUser();
  bob = await board.createUser();
});
beforeEach(async () => {
  await board.query('delete from notice_events');
  await board.query('delete from notices');
});
afterAll(() => board.close());

async function tell(code: NoticeCode, userId: string | null = null) {
  const { db } = board.deps;
  await noteEvents(db, [{ code, userId, data: { reason: 'a reason' }, at: new Date() }]);
  await withLease({ db, key: 'notices', holder: 'test' }, (lease) => makeNotices(board.deps, lease));
}
const read = async (client: TestClient, query = '') =>
  (await client.get(`${PATH}${query}`)).json<NotificationsAnswer>();
const codes = ({ notifications }: NotificationsAnswer) => notifications.map(({ code }) => code);

// Requirements: additions-alerts-13
test('administrators read the notices of administrators, users those that concern them', async () => {
  await tell('instance_started');
  await tell('key_refused', ann.user.id);
  await tell('user_halted', bob.user.id);
  expect(codes(await read(board.admin))).toEqual(['user_halted', 'key_refused', 'instance_started']);
  expect(codes(await read(ann.client))).toEqual(['key_refused']);
  expect((await read(ann.client)).notifications[0]).toMatchObject({
    severity: 'critical',
    text: `API key of ${ann.username} refused: a reason`,
    link: '/',
    read: false,
  });
});

// Requirements: additions-alerts-15
test('some or all are marked as read, for the reader only', async () => {
  await tell('instance_started');
  await tell('disk_low');
  await tell('key_refused', ann.user.id);
  const other = await board.createUser({ isAdmin: true });
  const [newest] = (await read(board.admin)).notifications;
  const [foreign] = (await read(ann.client)).notifications;
  const marked = await board.admin.post(`${PATH}/read`, { ids: [newest?.id, foreign?.id] });
  expect(marked.json()).toEqual({ unread: 2 });
  expect(codes(await read(board.admin, '?unread=true'))).toEqual(['disk_low', 'instance_started']);
  expect(codes(await read(board.admin, '?unread=false'))).toEqual(['key_refused']);
  expect((await read(ann.client, '?unread=true')).total).toBe(1);
  expect((await board.admin.post(`${PATH}/read`, { all: true })).json()).toEqual({ unread: 0 });
  expect((await board.admin.post(`${PATH}/read`, { all: true })).json()).toEqual({ unread: 0 });
  expect((await read(other.client, '?unread=true')).total).toBe(3);
});

test('pages and severities narrow the list, and anything else is refused', async () => {
  for (const code of ['instance_started', 'disk_low', 'backup_missing'] as const) await tell(code);
  const page = await read(board.admin, '?page=2&limit=2');
  expect([codes(page), page.total]).toEqual([['instance_started'], 3]);
  expect(codes(await read(board.admin, '?severity=critical'))).toEqual(['disk_low']);
  for (const query of ['?severity=loud', '?unread=1', '?page=0', '?limit=5000']) {
    expect((await board.admin.get(`${PATH}${query}`)).statusCode, query).toBe(400);
  }
  for (const body of [{}, { ids: ['x'] }, { all: false }, { ids: [], all: true }]) {
    expect((await board.admin.post(`${PATH}/read`, body)).statusCode).toBe(400);
  }
});

test('a new notice is announced to the browsers of its recipients', async () => {
  const origin = await board.app.listen({ host: '127.0.0.1', port: 0 });
  const streams = await Promise.all(
    [board.admin, ann.client, bob.client].map(({ cookie }) => openStream(origin, cookie)),
  );
  const [admin, own, other] = streams;
  for (const stream of streams)
    await stream.wait(({ heard }) => heard.some(({ event }) => event === 'ready'));
  await tell('key_refused', ann.user.id);
  for (const stream of [admin, own]) {
    await stream?.wait((one) => one.changes().some(({ topic }) => topic === 'notifications'));
  }
  await tell('key_refused', bob.user.id);
  await other?.wait((one) => one.changes().some(({ topic }) => topic === 'notifications'));
  expect(own?.changes().every(({ userId }) => userId === ann.user.id)).toBe(true);
  for (const stream of streams) stream.close();
});
