import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_FAILURES_PER_ACCOUNT, MAX_FAILURES_PER_ADDRESS } from '#server/platform/http/password-limits.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import type { Answer } from '#test/app/test-client.ts';
import { startWorld, type World } from '#test/world.ts';

let board: World;

beforeAll(async () => {
  board = await startWorld();
});
afterAll(() => board.close());

const login = (username: string, password: string, remoteAddress: string) =>
  board.anonymous.post('/api/auth/login', { username, password }, { remoteAddress });

async function fail(times: number, attempt: () => Promise<Answer>): Promise<number[]> {
  const codes: number[] = [];
  for (let time = 0; time < times; time++) codes.push((await attempt()).statusCode);
  return codes;
}

// Requirements: sign-in-and-sessions-3
test('after ten failures refuses a sign-in unread, even with the correct password, and says when to retry', async () => {
  const { username, password } = await board.createUser();
  const codes = await fail(20, () => login(username, 'wrong', '192.0.2.1'));
  expect(codes).toEqual([...Array(10).fill(401), ...Array(10).fill(429)]);
  const answer = await login(username, password, '192.0.2.1');
  expect(answer.statusCode).toBe(429);
  expect(answer.json()).toEqual({ message: 'Too many failed attempts. Try again later.' });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(14 * 60);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(15 * 60);
});

test('limits an unknown username like a known one', async () => {
  const codes = await fail(12, () => login('nobody@example.com', 'wrong', '192.0.2.5'));
  expect(codes).toEqual([...Array(10).fill(401), 429, 429]);
});

test('counts concurrent guesses one by one', async () => {
  const { username } = await board.createUser();
  const answers = await Promise.all(Array.from({ length: 30 }, () => login(username, 'wrong', '192.0.2.6')));
  expect(answers.filter((answer) => answer.statusCode === 401)).toHaveLength(MAX_FAILURES_PER_ACCOUNT);
  expect(answers.filter((answer) => answer.statusCode === 429)).toHaveLength(20);
});

testEveryCase('lets in all concurrent correct passwords', async () => {
  const { username, password } = await board.createUser();
  const answers = await Promise.all(Array.from({ length: 30 }, () => login(username, password, '192.0.2.7')));
  expect(answers.map((answer) => answer.statusCode)).toEqual(Array(30).fill(200));
});

// Requirements: sign-in-and-sessions-7
testEveryCase(
  'counts concurrent guesses at many accounts one by one for their address, and limits no other',
  async () => {
    const { username, password } = await board.createUser();
    const guess = (at: number) => login(`spray${at}@example.com`, 'wrong', '198.51.100.3');
    const answers = await Promise.all(Array.from({ length: 150 }, (_, at) => guess(at)));
    const codes = answers.map((answer) => answer.statusCode);
    expect(codes.filter((code) => code === 401)).toHaveLength(MAX_FAILURES_PER_ADDRESS);
    expect(codes.filter((code) => code === 429)).toHaveLength(50);
    expect((await login(username, password, '198.51.100.3')).statusCode).toBe(429);
    expect((await login(username, password, '198.51.100.2')).statusCode).toBe(200);
  },
);

// Requirements: sign-in-and-sessions-7
test('counts only failures for an address, not correct passwords, broken checks or attempts refused unread', async () => {
  const attempt = (account: string, check: () => Promise<boolean>) =>
    board.deps.limitPasswordAttempts({ account, address: '198.51.100.4' }, check);
  const wrong = async () => false;
  const settled = async (attempts: Promise<boolean>[]) =>
    (await Promise.allSettled(attempts)).map((one) => (one.status === 'fulfilled' ? one.value : 'refused'));
  const times = (count: number, make: (at: number) => Promise<boolean>) =>
    settled(Array.from({ length: count }, (_, at) => make(at)));

  // More concurrent attempts than may fail: the excess is refused and does not count as failed either.
  const [gate, allRefused] = [Promise.withResolvers<boolean>(), Promise.withResolvers<void>()];
  let refused = 0;
  const noteRefused = () => {
    refused += 1;
    if (refused === 20) allRefused.resolve();
  };
  const atOnce = Array.from({ length: MAX_FAILURES_PER_ADDRESS + 20 }, (_, at) =>
    attempt(`right${at}`, () => gate.promise),
  );
  for (const one of atOnce) one.catch(noteRefused);
  await allRefused.promise;
  gate.resolve(true);
  expect((await settled(atOnce)).filter((one) => one === true)).toHaveLength(MAX_FAILURES_PER_ADDRESS);
  const broken = await times(60, (at) =>
    attempt(`broken${at}`, () => Promise.reject(new Error('broke off'))),
  );
  expect(broken).toEqual(Array(60).fill('refused'));
  const guessed = await times(60, () => attempt('guessed', wrong));
  expect(guessed).toEqual([
    ...Array(MAX_FAILURES_PER_ACCOUNT).fill(false),
    ...Array(60 - MAX_FAILURES_PER_ACCOUNT).fill('refused'),
  ]);
  const left = MAX_FAILURES_PER_ADDRESS - MAX_FAILURES_PER_ACCOUNT;
  const rest = await times(left + 50, (at) => attempt(`other${at}`, wrong));
  expect(rest.filter((one) => one === false)).toHaveLength(left);
  expect(await settled([attempt('right', async () => true)])).toEqual(['refused']);
});

test('counts the addresses of one IPv6 network as one', async () => {
  const { username } = await board.createUser();
  const codes = await Promise.all(
    Array.from({ length: 12 }, (_, host) => login(username, 'wrong', `2001:db8:1:2::${host + 1}`)),
  );
  expect(codes.filter((answer) => answer.statusCode === 401)).toHaveLength(MAX_FAILURES_PER_ACCOUNT);
  expect((await login(username, 'wrong', '2001:db8:1:3::1')).statusCode).toBe(401);
});

test('a forged X-Forwarded-For does not count as another address', async () => {
  const { username } = await board.createUser();
  const codes: number[] = [];
  for (let at = 0; at < 12; at++) {
    const answer = await board.anonymous.post(
      '/api/auth/login',
      { username, password: 'wrong' },
      { remoteAddress: '192.0.2.8', headers: { 'x-forwarded-for': `203.0.113.${at}` } },
    );
    codes.push(answer.statusCode);
  }
  expect(codes.slice(10)).toEqual([429, 429]);
});

describe('the five password routes', () => {
  /** Every route that checks a password, called from one address. */
  const routesOf = ({ client, username, hookUrl, address }: Guesser, from = address) => {
    const at = { remoteAddress: from };
    return {
      login: (password: string) => board.anonymous.post('/api/auth/login', { username, password }, at),
      verify: (password: string) => client.post('/api/auth/verify-password', { password }, at),
      renew: (password: string) => client.put(hookUrl, { generateNewKey: true, password }, at),
      delete: (password: string) => client.delete(hookUrl, { password }, at),
      change: (currentPassword: string) =>
        client.put('/api/user-settings/change-password', { currentPassword, newPassword: 'another one' }, at),
    };
  };

  // Requirements: sign-in-and-sessions-3
  test('share one count, and each says when to retry once it is full', async () => {
    const user = await guesser();
    const routes = Object.values(routesOf(user));
    for (const route of [...routes, ...routes])
      expect([401, 403]).toContain((await route('wrong')).statusCode);
    for (const route of routes) {
      const answer = await route(user.password);
      expect(answer.statusCode).toBe(429);
      expect(answer.json()).toEqual({ message: 'Too many failed attempts. Try again later.' });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(14 * 60);
    }
  });

  // Requirements: sign-in-and-sessions-5
  test('lock neither the same account at another address nor another account at the same address', async () => {
    const [user, neighbour] = [await guesser(), await guesser()];
    const { verify } = routesOf(user);
    await fail(11, () => verify('wrong'));
    expect((await verify(user.password)).statusCode).toBe(429);
    expect((await routesOf(user, '192.0.2.9').verify(user.password)).statusCode).toBe(200);
    const beside = routesOf(neighbour, user.address);
    expect((await beside.verify(neighbour.password)).statusCode).toBe(200);
    expect((await beside.login(neighbour.password)).statusCode).toBe(200);
  });

  // Requirements: sign-in-and-sessions-3
  test.each(['login', 'verify', 'renew', 'delete', 'change'] as const)(
    'a correct password at %s clears the failures of the others',
    async (name) => {
      const user = await guesser();
      const routes = routesOf(user);
      const almost = MAX_FAILURES_PER_ACCOUNT - 1;
      expect(await fail(almost, () => routes.verify('wrong'))).toEqual(Array(almost).fill(403));
      expect((await routes[name](user.password)).statusCode).toBe(200);
      // Without the reset, the second call would be refused unread.
      expect(await fail(2, () => routes.login('wrong'))).toEqual([401, 401]);
    },
  );

  test('count no failure for a call that never checks a password', async () => {
    const user = await guesser();
    const { login, verify } = routesOf(user);
    await fail(12, () => login(''));
    await fail(12, () => board.anonymous.post('/api/auth/verify-password', { password: 'wrong' }));
    expect((await verify(user.password)).statusCode).toBe(200);
  });
});

interface Guesser {
  client: World['admin'];
  username: string;
  password: string;
  hookUrl: string;
  /** Each guesser has its own address, because failures also count for the address. */
  address: string;
}

let guessers = 0;

async function guesser(): Promise<Guesser> {
  const { client, username, password } = await board.createUser();
  const hook = (await client.post('/api/hooks', {})).json<{ id: string }>();
  return {
    client,
    username,
    password,
    hookUrl: `/api/hooks/${hook.id}`,
    address: `192.0.2.${100 + guessers++}`,
  };
}
