import { describe, expect, test } from 'vitest';
import { addressGroup, isAddressAllowed, sourceAddress } from './source-address.ts';

describe('the source address', () => {
  const from = (ip: string, remoteAddress: string | undefined, trustProxy: string[] = ['10.0.0.1']) =>
    sourceAddress({ ip, socket: { remoteAddress } } as Parameters<typeof sourceAddress>[0], { trustProxy });

  test('is the peer without a trusted proxy, whatever was forwarded', () => {
    expect(from('203.0.113.9', '192.0.2.1', [])).toBe('192.0.2.1');
  });

  test('is the address that the trusted proxy reports', () => {
    expect(from('203.0.113.9', '10.0.0.1')).toBe('203.0.113.9');
  });

  test.each([
    ['203.0.113.9:5678', '203.0.113.9'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['[::ffff:203.0.113.9]:80', '203.0.113.9'],
  ])('is without its port when the proxy reports %s', (said, address) => {
    expect(from(said, '10.0.0.1')).toBe(address);
  });

  test.each(['203.0.113.9:', '203.0.113.9:99999999', '[203.0.113', '[]:80', ':80'])(
    'is the peer when the proxy reports %j',
    (said) => {
      expect(from(said, '10.0.0.1')).toBe('10.0.0.1');
    },
  );

  test('is the peer when the proxy reports something that is not an address', () => {
    expect(from('"><script>', '10.0.0.1')).toBe('10.0.0.1');
    expect(from('unknown', undefined)).toBe('unknown');
    expect(from(`fe80::1%${'x'.repeat(10_000)}`, '10.0.0.1')).toBe('10.0.0.1');
  });

  test('is plain IPv4 on a dual-stack socket, and without the zone of a local interface', () => {
    expect(from('::ffff:192.0.2.1', '::1')).toBe('192.0.2.1');
    expect(from('fe80::1%eth0', '::1')).toBe('fe80::1');
  });
});

describe('an allow-list', () => {
  test.each([
    ['192.0.2.1', [], true],
    ['192.0.2.1', ['192.0.2.1'], true],
    ['192.0.2.2', ['192.0.2.1'], false],
    ['192.0.2.200', ['192.0.2.0/24'], true],
    ['192.0.3.1', ['192.0.2.0/24'], false],
    ['::ffff:192.0.2.1', ['192.0.2.1'], true],
    ['2001:db8::5', ['2001:db8::/32'], true],
    ['2001:db9::5', ['2001:db8::/32'], false],
    ['192.0.2.1', ['2001:db8::/32', '0.0.0.0/0'], true],
    ['unknown', ['0.0.0.0/0'], false],
  ])('%s against %j is %s', (address, allowed, expected) => {
    expect(isAddressAllowed(address, allowed)).toBe(expected);
  });
});

test('counts IPv4 addresses one by one and IPv6 addresses by their network', () => {
  expect(addressGroup('192.0.2.1')).toBe('192.0.2.1');
  expect(addressGroup('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
  expect(addressGroup('2001:db8:1:2::1')).toBe('2001:db8:1:2::/64');
  expect(addressGroup('unknown')).toBe('unknown');
});
