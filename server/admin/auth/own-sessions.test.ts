import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EndedSessions, SessionEntry } from '#contract/sessions.ts';
import { rememberAddress, wasAddressKnown } from '#server/platform/http/password-guesses.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { expectAnswer, type TestClient, testClient, UNKNOWN_ID } from '#test/app/test-client.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const HOUR_MS = 60 * 60_000;

const clock = fakeClock(new Date());
let board: World;

beforeAll(async () => {
  board = await startWorld({ config: { trustProxy: ['127.0.0.1'] }, clock });
});
afterAll(() => board.close());

async function signIn(
  { username, password }: TestUser,
  { userAgent = FIREFOX, address = '192.0.2.1' } = {},
): Promise<TestClient> {
  const headers = { 'user-agent': userAgent, 'x-forwarded-for': address };
  const answer = await board.anonymous.post('/api/auth/login', { username, password }, { headers });
  expect(answer.statusCode, answer.body).toBe(200);
  return testClient(board.app, `${answer.cookies[0]?.name}=${answer.cookies[0]?.value}`);
}

async function sessionsOf(client: TestClient): Promise<SessionEntry[]> {
  return (await client.get('/api/auth/sessions')).json<{ sessions: SessionEntry[] }>().sessions;
}
const currentOf = async (client: TestClient) =>
  (await sessionsOf(client)).find(({ current }) => current)?.id ?? '';
const isSignedIn = async (client: TestClient) => (await client.get('/api/auth/user')).statusCode === 200;

const entriesOf = (userId: string) =>
  board.query(
    'select actor_name, address, action, subject_kind, before, after from audit_log where actor_id = $1 order by id',
    [userId],
  );

test('lists the sessions of the caller with device and address, the one used last first', async () => {
  const [user, other] = [await board.createUser(), await board.createUser()];
  await signIn(other);
  clock.advance(1_000);
  const phone = await signIn(user, { userAgent: SAFARI, address: '2001:db8::7' });
  clock.advance(1_000);
  const laptop = await signIn(user);
  const listed = await sessionsOf(laptop);
  expect(listed.map(({ device, address, current }) => [device, address, current])).toEqual([
    ['Firefox on Linux', '192.0.2.1', true],
    ['Safari on iPhone', '2001:db8::7', false],
    [null, '127.0.0.1', false],
  ]);
  expect((await sessionsOf(phone)).filter(({ current }) => current)).toMatchObject([
    { device: 'Safari on iPhone' },
  ]);
  clock.advance(13 * HOUR_MS);
  const fresh = await signIn(user);
  expect(await sessionsOf(fresh)).toHaveLength(1);
});

test('stores only the beginning of a long user agent', async () => {
  const user = await board.createUser();
  await signIn(user, { userAgent: `${FIREFOX} ${'x'.repeat(5_000)}` });
  const [row] = await board.query(
    'select length(user_agent) as length from sessions where user_id = $1 order by id desc limit 1',
    [user.user.id],
  );
  expect(row).toEqual({ length: 300 });
});

test('ends one session, and leaves an entry in the audit trail', async () => {
  const user = await board.createUser();
  const [phone, laptop] = [await signIn(user, { userAgent: SAFARI }), await signIn(user)];
  expectAnswer(
    await laptop.delete(`/api/auth/sessions/${await currentOf(phone)}`),
    200,
    'The session was ended',
  );
  expect([await isSignedIn(phone), await isSignedIn(laptop)]).toEqual([false, true]);
  expect(await entriesOf(user.user.id)).toContainEqual({
    actor_name: user.username,
    address: '127.0.0.1',
    action: 'session ended',
    subject_kind: 'session',
    before: { device: 'Safari on iPhone', address: '192.0.2.1' },
    after: null,
  });
});

test('signs out with the end of the own session', async () => {
  const client = await signIn(await board.createUser());
  const answer = await client.delete(`/api/auth/sessions/${await currentOf(client)}`);
  expectAnswer(answer, 200, 'Signed out');
  expect(answer.cookies[0]).toMatchObject({ name: 'sid', value: '' });
  expect(await isSignedIn(client)).toBe(false);
});

test("does not find another user's session, even for administrators", async () => {
  const client = await signIn(await board.createUser());
  const id = await currentOf(client);
  const strangers = [await board.createUser(), await board.createUser({ isAdmin: true })];
  for (const { client: other } of strangers) {
    expectAnswer(await other.delete(`/api/auth/sessions/${id}`), 404, 'Session not found');
  }
  expectAnswer(await client.delete(`/api/auth/sessions/${UNKNOWN_ID}`), 404, 'Session not found');
  expect(await isSignedIn(client)).toBe(true);
});

test("ends all other sessions of the caller and says how many, but nobody else's", async () => {
  const [user, other] = [await board.createUser(), await board.createUser()];
  const [phone, laptop] = [await signIn(user), await signIn(user)];
  const ended = (await laptop.delete('/api/auth/sessions')).json<EndedSessions>();
  // The phone, and the session of `createUser`.
  expect(ended).toEqual({ message: '2 other sessions were ended', ended: 2 });
  expect(await Promise.all([phone, user.client, laptop, other.client].map(isSignedIn))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect((await laptop.delete('/api/auth/sessions')).json()).toEqual({
    message: 'There was no other session',
    ended: 0,
  });
  const entries = await entriesOf(user.user.id);
  expect(entries.filter(({ action }) => action === 'other sessions ended').map(({ after }) => after)).toEqual(
    [{ ended: 2 }, { ended: 0 }],
  );
});

test('knows an address from which the user signed in within thirty days', async () => {
  const { user } = await board.createUser();
  const known = (address: string) =>
    wasAddressKnown(board.deps.db, { userId: user.id, address, now: clock.now() });
  expect(await known('2001:db8:1:2::3')).toBe(false);
  await rememberAddress(board.deps.db, { userId: user.id, address: '2001:db8:1:2::3', now: clock.now() });
  expect(await known('2001:db8:1:2::4')).toBe(true);
  expect(await known('2001:db8:1:3::3')).toBe(false);
  clock.advance(31 * 24 * HOUR_MS);
  expect(await known('2001:db8:1:2::3')).toBe(false);
});
