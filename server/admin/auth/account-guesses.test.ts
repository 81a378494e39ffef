import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type FakeClock, fakeClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import type { TestUser, World } from '#test/world.ts';

// Spies on the real functions to count calls.
vi.mock('@node-rs/argon2', { spy: true });

const QUARTER_HOUR_MS = 15 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
const MOST_GUESSES = 15;

let argon2: typeof import('@node-rs/argon2');
let board: World;
let clock: FakeClock;

beforeAll(async () => {
  // Files share a worker: modules loaded by an earlier file would keep using the unspied function.
  vi.resetModules();
  argon2 = await import('@node-rs/argon2');
  const { startWorld } = await import('#test/world.ts');
  clock = fakeClock(new Date());
  board = await startWorld({ config: { trustProxy: ['127.0.0.1'] }, clock });
});
afterAll(() => board.close());
// Reset the counts of earlier tests.
beforeEach(async () => {
  await board.database.pool.query('delete from rate_limits');
});
afterEach(() => vi.clearAllMocks());

const evaluated = () => vi.mocked(argon2.verify).mock.calls.length;

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const login = (username: string, password: string, address: string) =>
  board.anonymous.post('/api/auth/login', { username, password }, from(address));

/** Status codes of concurrent wrong guesses, one from each address. */
async function guessFrom(addresses: readonly string[], username: string): Promise<number[]> {
  const answers = await Promise.all(addresses.map((address) => login(username, 'wrong', address)));
  return answers.map(({ statusCode }) => statusCode);
}

let used = 0;
/** Addresses that no other test uses. */
function newAddresses(count: number): string[] {
  return Array.from({ length: count }, () => {
    used += 1;
    return `10.${used >> 16}.${(used >> 8) & 255}.${used & 255}`;
  });
}

const newAddress = () => newAddresses(1)[0] ?? '';

/** A user who signed in from one address, which is therefore known. */
async function owner(): Promise<TestUser & { home: string }> {
  const user = await board.createUser();
  const home = newAddress();
  expect((await login(user.username, user.password, home)).statusCode).toBe(200);
  return { ...user, home };
}

describe('guessing at one account from many addresses', () => {
  // Requirements: sign-in-and-sessions-6
  test('evaluates at most fifteen in a quarter of an hour while the owner can sign in', async () => {
    const { username, password, home } = await owner();
    vi.mocked(argon2.verify).mockClear();
    const guesses: number[] = [];
    let signIns = 0;
    for (let round = 0; round < 10; round++) {
      guesses.push(...(await guessFrom(newAddresses(25), username)));
      expect((await login(username, password, home)).statusCode).toBe(200);
      signIns += 1;
      clock.advance(60_000);
    }
    expect(guesses).toHaveLength(250);
    expect(evaluated() - signIns).toBeGreaterThan(0);
    expect(evaluated() - signIns).toBeLessThanOrEqual(MOST_GUESSES);
    expect(guesses.filter((status) => status === 401)).toHaveLength(evaluated() - signIns);
    // A busy server answers 503 instead of checking a guess.
    expect(guesses.filter((status) => ![401, 429, 503].includes(status))).toEqual([]);
  });

  testEveryCase('never evaluates more than fifteen in any quarter of an hour', async () => {
    const { username } = await owner();
    const at: number[] = [];
    for (let step = 0; step < 120; step++) {
      const [status] = await guessFrom([newAddress()], username);
      if (status === 401) at.push(clock.now().getTime());
      clock.advance(40_000);
    }
    const inQuarterHours = at.map(
      (start) => at.filter((time) => time >= start && time < start + QUARTER_HOUR_MS).length,
    );
    expect(Math.max(...inQuarterHours)).toBe(MOST_GUESSES);
  });

  test('makes them wait longer each time, as Retry-After says', async () => {
    const { username, password } = await owner();
    const waits: number[] = [];
    for (;;) {
      const answer = await login(username, 'wrong', newAddress());
      if (answer.statusCode === 401) continue;
      expect(answer.statusCode).toBe(429);
      expect(answer.json()).toEqual({ message: 'Too many failed attempts. Try again later.' });
      const wait = Number(answer.headers['retry-after']);
      waits.push(wait);
      if (waits.length === 5) break;
      clock.advance((wait - 1) * 1_000);
      expect((await login(username, password, newAddress())).statusCode).toBe(429);
      clock.advance(1_000);
      expect((await login(username, 'wrong', newAddress())).statusCode).toBe(401);
    }
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(new Set(waits).size).toBe(waits.length);
    clock.advance(QUARTER_HOUR_MS);
    expect((await login(username, password, newAddress())).statusCode).toBe(200);
  });

  testEveryCase('gives the same answers for an unknown account', async () => {
    const { username } = await owner();
    const codes = async (name: string) => {
      const guesses: string[] = [];
      for (const address of newAddresses(20)) {
        const { statusCode, body, headers } = await login(name, 'wrong', address);
        guesses.push(`${statusCode} ${body} ${headers['retry-after']}`);
      }
      return guesses;
    };
    const known = await codes(username);
    expect(known.at(-1)).toMatch(/^429/);
    vi.mocked(argon2.verify).mockClear();
    expect(await codes('nobody.at.all@example.com')).toEqual(known);
    expect(evaluated()).toBe(known.filter((answer) => answer.startsWith('401')).length);
  });

  testEveryCase('counts guesses on every password route', async () => {
    const user = await owner();
    const hook = (await user.client.post('/api/hooks', {})).json<{ id: string }>();
    const { client } = user;
    const routes = [
      (at: object) =>
        board.anonymous.post('/api/auth/login', { username: user.username, password: 'wrong' }, at),
      (at: object) => client.post('/api/auth/verify-password', { password: 'wrong' }, at),
      (at: object) => client.put(`/api/hooks/${hook.id}`, { generateNewKey: true, password: 'wrong' }, at),
      (at: object) => client.delete(`/api/hooks/${hook.id}`, { password: 'wrong' }, at),
      (at: object) =>
        client.put(
          '/api/user-settings/change-password',
          { currentPassword: 'wrong', newPassword: 'another password' },
          at,
        ),
    ];
    vi.mocked(argon2.verify).mockClear();
    // The attacker uses a stolen cookie; that does not make an address known.
    for (const [at, address] of newAddresses(40).entries()) await routes[at % routes.length]?.(from(address));
    expect(evaluated()).toBeLessThanOrEqual(MOST_GUESSES);
    for (const route of routes) expect((await route(from(newAddress()))).statusCode).toBe(429);
    // The owner's known address is not affected.
    const verify = await client.post(
      '/api/auth/verify-password',
      { password: user.password },
      from(user.home),
    );
    expect(verify.statusCode).toBe(200);
  });

  testEveryCase('does not count correct passwords', async () => {
    const { username, password } = await owner();
    for (const address of newAddresses(20)) {
      expect((await login(username, password, address)).statusCode).toBe(200);
    }
    expect((await guessFrom(newAddresses(1), username)).at(0)).toBe(401);
  });
});

describe('known addresses', () => {
  /** Uses up the guesses that unknown addresses may make. */
  async function besiege(username: string): Promise<void> {
    const codes = await guessFrom(newAddresses(30), username);
    expect(codes).toContain(429);
  }
  const enters = async ({ username, password }: TestUser, address: string) =>
    (await login(username, password, address)).statusCode === 200;

  testEveryCase('stay known for thirty days after the last correct password', async () => {
    const user = await owner();
    await besiege(user.username);
    expect(await enters(user, newAddress())).toBe(false);
    expect(await enters(user, user.home)).toBe(true);
    clock.advance(29 * DAY_MS);
    await besiege(user.username);
    expect(await enters(user, user.home)).toBe(true);
    clock.advance(31 * DAY_MS);
    await besiege(user.username);
    expect(await enters(user, user.home)).toBe(false);
  });

  test('are known only for their own user', async () => {
    const [user, other] = [await owner(), await owner()];
    await besiege(user.username);
    expect(await enters(user, other.home)).toBe(false);
  });

  testEveryCase('cover the whole IPv6 network', async () => {
    const user = await owner();
    expect(await enters(user, '2001:db8:7:7::1')).toBe(true);
    await besiege(user.username);
    expect(await enters(user, '2001:db8:7:7:ffff::2')).toBe(true);
    expect(await enters(user, '2001:db8:7:8::1')).toBe(false);
  });

  testEveryCase('keep their own limit', async () => {
    const user = await owner();
    await besiege(user.username);
    const codes: number[] = [];
    for (let guess = 0; guess < 12; guess++) {
      codes.push((await login(user.username, 'wrong', user.home)).statusCode);
    }
    expect(codes).toEqual([...Array(10).fill(401), 429, 429]);
  });

  test('do not include one where a deactivated user entered the correct password', async () => {
    const user = await owner();
    await board.database.pool.query('update users set is_active = false where id = $1', [user.user.id]);
    const elsewhere = newAddress();
    expect(await enters(user, elsewhere)).toBe(false);
    await board.database.pool.query('update users set is_active = true where id = $1', [user.user.id]);
    await besiege(user.username);
    expect(await enters(user, elsewhere)).toBe(false);
  });

  testEveryCase('include the twenty used last, and old ones are forgotten', async () => {
    const user = await owner();
    const [oldest, ...newer] = newAddresses(25);
    for (const address of [oldest ?? '', ...newer]) {
      clock.advance(1_000);
      expect(await enters(user, address)).toBe(true);
    }
    const stored = async () => {
      const { rows } = await board.database.pool.query<{ address: string }>(
        'select address from known_addresses where user_id = $1 order by last_used_at desc',
        [user.user.id],
      );
      return rows.map(({ address }) => address);
    };
    expect(await stored()).toEqual(newer.slice(-20).reverse());
    clock.advance(31 * DAY_MS);
    expect(await enters(user, user.home)).toBe(true);
    expect(await stored()).toEqual([user.home]);
  });
});

// Requirements: sign-in-and-sessions-2
test('a wrong password, an unknown and an inactive user take one evaluation at the same cost', async () => {
  const [user, inactive] = [await owner(), await owner()];
  await board.database.pool.query('update users set is_active = false where id = $1', [inactive.user.id]);
  for (const [username, password] of [
    [user.username, 'wrong'],
    ['nobody@example.com', 'wrong'],
    [inactive.username, inactive.password],
  ] as const) {
    vi.mocked(argon2.verify).mockClear();
    expect((await login(username, password, newAddress())).statusCode).toBe(401);
    const hashes = vi.mocked(argon2.verify).mock.calls.map(([hash]) => String(hash));
    expect(hashes, username).toEqual([expect.stringMatching(/^\$argon2id\$v=19\$m=8,t=1,p=1\$/)]);
  }
});

test('removes old guesses', async () => {
  const names = Array.from({ length: 5 }, (_, at) => `long.ago${at}@example.com`);
  for (const name of names) await guessFrom(newAddresses(1), name);
  clock.advance(QUARTER_HOUR_MS + 1);
  await guessFrom(newAddresses(1), 'lately@example.com');
  const { rows } = await board.database.pool.query('select 1 from password_guesses');
  expect(rows).toHaveLength(1);
});
