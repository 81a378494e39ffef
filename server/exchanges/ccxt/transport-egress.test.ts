import { afterEach, expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { type Egresses, openEgresses } from './transport-egress.ts';

const opened: Egresses[] = [];
afterEach(async () => {
  for (const egresses of opened.splice(0)) await egresses.close();
});

const clock = fakeClock();
function open(proxies: string[]): Egresses {
  const egresses = openEgresses({ proxies, address: null, timeoutMs: 1_000, now: clock.now });
  opened.push(egresses);
  return egresses;
}

const USERS = Array.from({ length: 1_000 }, (_, index) => `user-${index}`);
const proxies = (count: number) =>
  Array.from({ length: count }, (_, index) => `http://proxy-${index}.test:3128`);
const waysOf = (egresses: Egresses) => USERS.map((user) => egresses.forUser(user).name);

test('spreads users evenly, and an added proxy moves only its own users', () => {
  const [three, four] = [waysOf(open(proxies(3))), waysOf(open(proxies(4)))];
  for (const name of new Set(three)) {
    const share = three.filter((way) => way === name).length;
    expect(share).toBeGreaterThan(270);
    expect(share).toBeLessThan(400);
  }
  const moved = USERS.map((_, index) => index).filter((index) => three[index] !== four[index]);
  expect(moved.length).toBeGreaterThan(180);
  expect(moved.length).toBeLessThan(320);
  const added = four.filter((name) => !three.includes(name))[0];
  expect(moved.every((index) => four[index] === added)).toBe(true);
});

test('keeps users in place when proxies are reordered or change passwords; another user name may be another address', () => {
  const before = waysOf(open(['http://a:one@proxy.test:1', 'http://b:two@proxy.test:1']));
  const after = waysOf(open(['http://b:new@proxy.test:1', 'http://a:changed@proxy.test:1']));
  expect(after).toEqual(before);
  expect(new Set(before).size).toBe(2);
  expect(before.join()).not.toMatch(/one|two|proxy/);
});

test('public calls take the proxies in turn and, for 30 seconds, skip one that refused a connection', () => {
  const egresses = open(proxies(3));
  const next = (count: number) => Array.from({ length: count }, () => egresses.forPublic().name);
  const round = next(3);
  expect(new Set(round).size).toBe(3);
  expect(next(3)).toEqual(round);
  const down = egresses.forPublic();
  const itsUser = USERS.find((user) => egresses.forUser(user).name === down.name) ?? '';
  egresses.tookNoConnection(down);
  expect(next(20)).not.toContain(down.name);
  // The key may be bound to the address, so its user stays.
  expect(egresses.forUser(itsUser).name).toBe(down.name);
  clock.advance(30_000);
  expect(next(3)).toContain(down.name);
});

test('tries resting proxies if no other is left', () => {
  const egresses = open(proxies(2));
  for (let count = 0; count < 2; count += 1) egresses.tookNoConnection(egresses.forPublic());
  expect(['', ''].map(() => egresses.forPublic().name)).not.toContain('direct');
});
