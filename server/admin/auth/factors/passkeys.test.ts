import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { enrolPasskey, enrolTotp, halfSignIn } from '#test/app/second-factors.ts';
import { type SoftwarePasskey, softwarePasskey } from '#test/app/software-passkey.ts';
import { cookieOf, expectAnswer, type TestClient, testClient, UNKNOWN_ID } from '#test/app/test-client.ts';
import { startWorld, type World } from '#test/world.ts';

let board: World;
const clock = fakeClock(new Date());

beforeAll(async () => {
  board = await startWorld({ clock });
});
afterAll(() => board.close());

const MINUTE_MS = 60_000;
const REFUSED = 'The code or passkey was not accepted';
type Answering = Parameters<SoftwarePasskey['use']>[1];

async function owner(passkey?: SoftwarePasskey) {
  const user = await board.createUser();
  return { ...user, passkey: await enrolPasskey(user.client, passkey) };
}

const optionsFor = async (client: TestClient) =>
  (await client.post('/api/auth/login/passkey/options')).json();

async function enter(passkey: SoftwarePasskey, answering?: Answering, client = board.anonymous) {
  const assertion = passkey.use(await optionsFor(client), answering);
  return client.post('/api/auth/login/passkey', { assertion });
}

describe('a new passkey', () => {
  test('is made for its user and this host, and listed under its name', async () => {
    const { client, user } = await board.createUser();
    const options = (await client.post('/api/auth/passkeys/options')).json();
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'Signal Board' },
      user: { name: user.username, id: Buffer.from(user.id).toString('base64url') },
      attestation: 'none',
      excludeCredentials: [],
    });
    const passkey = softwarePasskey();
    const body = { name: '  Blue key ', response: passkey.create(options) };
    const answer = await client.post('/api/auth/passkeys', body);
    const summary = {
      id: expect.any(String),
      name: 'Blue key',
      createdAt: clock.now().toISOString(),
      lastUsedAt: null,
    };
    expectAnswer(answer, 200, { passkey: summary });
    const { id } = answer.json().passkey;
    expectAnswer(await client.get(`/api/auth/passkeys/${id}`), 200, { passkey: summary });
    expect((await client.get('/api/auth/factors')).json().passkeys).toEqual([summary]);
    const next = (await client.post('/api/auth/passkeys/options')).json();
    expect(next.excludeCredentials).toMatchObject([{ id: passkey.id }]);
    const again = { name: 'Again', response: passkey.create(next) };
    expectAnswer(await client.post('/api/auth/passkeys', again), 400, 'This passkey is set up already');
    const actions = await board.query('select action from audit_log where subject_id = $1', [id]);
    expect(actions).toEqual([{ action: 'passkey added' }]);
  });

  test('is refused from another page, for another host, and with a used or foreign challenge', async () => {
    const [{ client }, other] = [await board.createUser(), await board.createUser()];
    const optionsOf = async (of: TestClient) => (await of.post('/api/auth/passkeys/options')).json();
    const add = (response: unknown) => client.post('/api/auth/passkeys', { name: 'Phone', response });
    for (const answering of [{ origin: 'https://evil.example' }, { rpId: 'evil.example' }]) {
      expectAnswer(await add(softwarePasskey().create(await optionsOf(client), answering)), 403, REFUSED);
    }
    expectAnswer(await add(softwarePasskey().create(await optionsOf(other.client))), 403, REFUSED);
    const options = await optionsOf(client);
    expect((await add(softwarePasskey().create(options))).statusCode).toBe(200);
    expectAnswer(await add(softwarePasskey().create(options)), 403, REFUSED);
    const signIn = await optionsFor(board.anonymous);
    expectAnswer(await add(softwarePasskey().create(signIn)), 403, REFUSED);
    const late = await optionsOf(client);
    clock.advance(5 * MINUTE_MS);
    expectAnswer(await add(softwarePasskey().create(late)), 403, REFUSED);
    const readable = { ...softwarePasskey().create(late) };
    const broken = { ...readable, response: { ...readable.response, clientDataJSON: 'AAAA' } };
    expectAnswer(await add(broken), 403, REFUSED);
  });

  test('takes the name of PUBLIC_URL, and no IP address', async () => {
    const { client } = await board.createUser();
    for (const host of ['192.0.2.7:3000', '[2001:db8::1]:3000']) {
      const answer = await client.post('/api/auth/passkeys/options', undefined, { headers: { host } });
      expectAnswer(
        answer,
        400,
        'Passkeys need a host name: open Signal Board under its name instead of an IP address',
      );
    }
    const named = await board.buildInstance({ publicUrl: 'https://board.example.com' });
    const options = (await testClient(named.app).post('/api/auth/login/passkey/options')).json();
    expect(options.rpId).toBe('board.example.com');
    await named.app.close();
    await named.stop();
  });

  test('can be removed by its owner only', async () => {
    const [one, other] = [await owner(), await owner()];
    const [{ id }] = (await one.client.get('/api/auth/factors')).json().passkeys;
    for (const path of [id, UNKNOWN_ID].map((key) => `/api/auth/passkeys/${key}`)) {
      expectAnswer(await other.client.get(path), 404, 'Passkey not found');
      expectAnswer(await other.client.delete(path), 404, 'Passkey not found');
    }
    expect((await one.client.delete(`/api/auth/passkeys/${id}`)).statusCode).toBe(200);
    expectAnswer(await enter(one.passkey), 403, REFUSED);
    expect((await enter(other.passkey)).statusCode).toBe(200);
  });
});

describe('signing in with a passkey alone', () => {
  test('opens a session, and no step-up', async () => {
    const { passkey, username } = await owner();
    const options = await optionsFor(board.anonymous);
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
    expect(options.allowCredentials).toBeUndefined();
    const answer = await enter(passkey);
    expect([answer.statusCode, answer.json().user?.username]).toEqual([200, username]);
    const client = testClient(board.app, cookieOf(answer));
    expect((await client.get('/api/auth/user')).statusCode).toBe(200);
    expect((await client.delete('/api/auth/totp')).json()).toMatchObject({ failureType: 'stepUpRequired' });
    const [{ lastUsedAt }] = (await client.get('/api/auth/factors')).json().passkeys;
    expect(lastUsedAt).toBe(clock.now().toISOString());
  });

  test('asks the authenticator to have verified its user', async () => {
    const { passkey } = await owner();
    expectAnswer(await enter(passkey, { userVerified: false }), 403, REFUSED);
  });

  test('is refused from another page and for another host', async () => {
    const { passkey } = await owner();
    for (const answering of [{ origin: 'https://evil.example' }, { rpId: 'evil.example' }]) {
      expectAnswer(await enter(passkey, answering), 403, REFUSED);
    }
  });

  test('takes each challenge once, for five minutes, and for this purpose', async () => {
    const { passkey, client } = await owner();
    const post = (options: { challenge: string }) =>
      board.anonymous.post('/api/auth/login/passkey', { assertion: passkey.use(options) });
    const options = await optionsFor(board.anonymous);
    expect((await post(options)).statusCode).toBe(200);
    expectAnswer(await post(options), 403, REFUSED);
    expectAnswer(await post({ challenge: 'bm8gY2hhbGxlbmdl' }), 403, REFUSED);
    const stepUp = (await client.post('/api/auth/step-up/options')).json();
    expectAnswer(await post(stepUp), 403, REFUSED);
    const late = await optionsFor(board.anonymous);
    clock.advance(5 * MINUTE_MS);
    expectAnswer(await post(late), 403, REFUSED);
    const failed = await optionsFor(board.anonymous);
    const elsewhere = passkey.use(failed, { origin: 'https://evil.example' });
    await board.anonymous.post('/api/auth/login/passkey', { assertion: elsewhere });
    // A refused answer has used its challenge up as well.
    expectAnswer(await post(failed), 403, REFUSED);
    expect(
      await board.query('select 1 from passkey_challenges where expires_at < $1', [clock.now()]),
    ).toEqual([]);
  });

  test('is refused when the authenticator has counted back', async () => {
    const { passkey } = await owner();
    expect((await enter(passkey, { counter: 7 })).statusCode).toBe(200);
    expectAnswer(await enter(passkey, { counter: 7 }), 403, REFUSED);
    expectAnswer(await enter(passkey, { counter: 6 }), 403, REFUSED);
    expect((await enter(passkey, { counter: 8 })).statusCode).toBe(200);
  });

  test('is accepted again and again from one that does not count', async () => {
    const { passkey } = await owner(softwarePasskey({ counts: false }));
    for (let at = 0; at < 3; at++) expect((await enter(passkey)).statusCode).toBe(200);
  });

  test('is refused for a forged signature, an unknown passkey and an inactive user alike', async () => {
    const { passkey, user } = await owner();
    const other = softwarePasskey();
    const forged = other.use(await optionsFor(board.anonymous));
    for (const assertion of [{ ...forged, id: passkey.id, rawId: passkey.id }, forged]) {
      expectAnswer(await board.anonymous.post('/api/auth/login/passkey', { assertion }), 403, REFUSED);
    }
    await board.admin.patch(`/api/admin/users/${user.id}/deactivate`);
    const answer = await enter(passkey);
    expectAnswer(answer, 403, REFUSED);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('a passkey after the password', () => {
  test('completes the sign-in, and its challenge is for that user only', async () => {
    const [user, other] = [await owner(), await owner()];
    const half = await halfSignIn(board, user);
    const options = await optionsFor(half);
    expect(options.allowCredentials).toMatchObject([{ id: user.passkey.id }]);
    const post = (client: TestClient, assertion: unknown) =>
      client.post('/api/auth/login/passkey', { assertion });
    expectAnswer(await post(half, other.passkey.use(options)), 403, REFUSED);
    const withoutHalf = user.passkey.use(await optionsFor(half));
    expectAnswer(await post(board.anonymous, withoutHalf), 403, REFUSED);
    const stepUp = (await user.client.post('/api/auth/step-up/options')).json();
    expectAnswer(await post(half, user.passkey.use(stepUp)), 403, REFUSED);
    // After the password, a key without a PIN is enough.
    const answer = await enter(user.passkey, { userVerified: false }, half);
    expect(answer.statusCode).toBe(200);
    expect([answer.headers['set-cookie']].flat()[1]).toMatch(/^half-sid=; /);
    const [entry] = await board.query(
      `select "after" from audit_log where actor_id = $1 and action = 'signed in' order by id desc limit 1`,
      [user.user.id],
    );
    expect(entry).toEqual({ after: { with: 'password and passkey' } });
    expectAnswer(
      await half.post('/api/auth/login/factor', { code: '123456' }),
      401,
      'Sign in again with your password',
    );
  });

  test('is offered beside the app', async () => {
    const user = await owner();
    await enrolTotp(user.client, clock);
    const { username, password } = user;
    const answer = await board.anonymous.post('/api/auth/login', { username, password });
    expectAnswer(answer, 200, { factorRequired: ['totp', 'passkey'] });
  });

  test('keeps the recovery codes of a removed app until it is removed too', async () => {
    const user = await owner();
    const { recoveryCodes } = await enrolTotp(user.client, clock);
    await user.client.delete('/api/auth/totp');
    const half = await halfSignIn(board, user);
    const [code] = recoveryCodes;
    expect((await half.post('/api/auth/login/factor', { code })).statusCode).toBe(200);
    const [{ id }] = (await user.client.get('/api/auth/factors')).json().passkeys;
    await user.client.delete(`/api/auth/passkeys/${id}`);
    expect((await user.client.get('/api/auth/factors')).json().recoveryCodesLeft).toBe(0);
  });
});

test('confirms an identity, with a challenge of its own user', async () => {
  const [user, other] = [await owner(), await owner()];
  const client = testClient(board.app, cookieOf(await enter(user.passkey)));
  const optionsOf = async (of: TestClient) => (await of.post('/api/auth/step-up/options')).json();
  const post = (assertion: unknown) => client.post('/api/auth/step-up', { assertion });
  expectAnswer(await post(other.passkey.use(await optionsOf(client))), 403, REFUSED);
  expectAnswer(await post(user.passkey.use(await optionsOf(other.client))), 403, REFUSED);
  expectAnswer(await post(user.passkey.use(await optionsFor(board.anonymous))), 403, REFUSED);
  expect((await client.post('/api/auth/passkeys/options')).statusCode).toBe(403);
  const options = await optionsOf(client);
  expect((await post(user.passkey.use(options))).statusCode).toBe(200);
  expect((await client.post('/api/auth/passkeys/options')).statusCode).toBe(200);
  const { client: without } = await board.createUser();
  expectAnswer(await without.post('/api/auth/step-up/options'), 404, 'Passkey not found');
});

testEveryCase('limits how many passkey sign-ins an address may begin', async () => {
  const from = { remoteAddress: '198.51.100.200' };
  const begin = () => board.anonymous.post('/api/auth/login/passkey/options', undefined, from);
  for (let at = 0; at < 100; at++) expect((await begin()).statusCode).toBe(200);
  const refused = await begin();
  expectAnswer(refused, 429, 'Too many failed attempts. Try again later.');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(10 * 60);
});
