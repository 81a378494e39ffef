import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWrongKeys } from '#server/platform/http/wrong-keys.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';

describe('wrong keys from one address', () => {
  let board: World;
  let sender: TestSender;
  let suspended: TestSender;
  let price = 0;

  beforeAll(async () => {
    board = await startWorld();
    const [owner, other] = [await board.createUser(), await board.createUser()];
    sender = await createSender({ app: board.app, client: owner.client });
    suspended = await createSender({ app: board.app, client: other.client });
    await board.admin.patch(`/api/admin/users/${other.user.id}/deactivate`);
  });
  afterAll(() => board.close());

  const sendWrong = (remoteAddress: string, query = '?hkid=wrong') =>
    sender.signal({}, { query, remoteAddress });

  async function exhaust(remoteAddress: string): Promise<void> {
    for (let count = 1; count <= 20; count += 1) {
      expect((await sendWrong(remoteAddress, `?hkid=wrong${count}`)).statusCode).toBe(401);
    }
  }

  test('are answered 429 with Retry-After from the 21st of a minute on, whatever is wrong with them', async () => {
    const address = '198.51.100.1';
    await exhaust(address);
    for (const query of ['?hkid=wrong', '', '?hkid=', `?hkid=${'A'.repeat(43)}`, '?hkid=a&hkid=b']) {
      const answer = await sendWrong(address, query);
      expect([answer.statusCode, answer.json()]).toEqual([
        429,
        { success: false, message: 'Too many wrong webhook keys from this address' },
      ]);
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    expect((await sendWrong('198.51.100.2')).statusCode).toBe(401);
  });

  test('never lock out a valid key from the same address', async () => {
    const remoteAddress = '198.51.100.3';
    await exhaust(remoteAddress);
    for (let count = 1; count <= 30; count += 1) {
      price += 1;
      expect((await sender.signal({ price }, { remoteAddress })).statusCode).toBe(200);
      expect((await sender.candle({ Close: price }, { remoteAddress })).statusCode).toBe(200);
      expect((await sendWrong(remoteAddress)).statusCode).toBe(429);
    }
    expect((await sender.send('trading_view_signal', 'not JSON', { remoteAddress })).statusCode).toBe(400);
  });

  test('are counted per IPv6 network', async () => {
    for (let count = 1; count <= 20; count += 1) await sendWrong(`2001:db8:7:7::${count}`);
    expect((await sendWrong('2001:db8:7:7:ffff::1')).statusCode).toBe(429);
    expect((await sendWrong('2001:db8:7:8::1')).statusCode).toBe(401);
  });

  test('include the key of a suspended webhook, which gets the same answer', async () => {
    const remoteAddress = '198.51.100.4';
    for (let count = 1; count <= 10; count += 1) {
      expect((await sendWrong(remoteAddress)).statusCode).toBe(401);
      expect((await suspended.signal({}, { remoteAddress })).statusCode).toBe(401);
    }
    const [unknown, known] = [await sendWrong(remoteAddress), await suspended.signal({}, { remoteAddress })];
    expect([known.statusCode, known.body]).toEqual([unknown.statusCode, unknown.body]);
    expect(known.statusCode).toBe(429);
  });
});

describe('the count of wrong keys', () => {
  test('restarts a minute after the first wrong key, and says how long that takes', () => {
    let nowMs = 5_000;
    const note = createWrongKeys({ nowMs: () => nowMs });
    for (let count = 1; count <= 20; count += 1) expect(note('a')).toBeNull();
    nowMs += 20_500;
    expect(note('a')).toBe(40);
    nowMs += 39_499;
    expect(note('a')).toBe(1);
    nowMs += 2;
    expect(note('a')).toBeNull();
  });

  test('remembers a bounded number of addresses, the newest ones', () => {
    const note = createWrongKeys({ nowMs: () => 5_000, mostAddresses: 3 });
    const exhaust = (address: string) => {
      for (let count = 1; count <= 20; count += 1) note(address);
    };
    for (const address of ['a', 'b', 'c', 'd']) exhaust(address);
    expect(['b', 'c', 'd'].map((address) => note(address))).toEqual([60, 60, 60]);
    expect(note('a')).toBeNull();
  });
});
