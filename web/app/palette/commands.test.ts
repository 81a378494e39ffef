import { describe, expect, test } from 'vitest';
import type { Signal } from '#contract/signals.ts';
import { findCommands, isFullId, type Known, readQuery } from './commands.ts';

const SIGNAL_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

const known: Known = {
  isAdmin: true,
  pages: [
    { pageName: 'Dashboard', path: '/', displayName: 'Dashboard', icon: 'Home', group: '' },
    { pageName: 'signals', path: '/signals', displayName: 'Signals', icon: 'Activity', group: '' },
    { pageName: 'create-client', path: '/create-client', displayName: 'Users', icon: 'Users', group: '' },
    { pageName: 'elsewhere', path: '/elsewhere', displayName: 'No screen', icon: 'X', group: '' },
  ],
  users: [
    { id: 'a0000000-0000-4000-8000-000000000001', username: 'joanna@example.com' },
    { id: 'a0000000-0000-4000-8000-000000000002', username: 'anna@example.com' },
  ],
  tokens: ['BTC', 'WBTC', 'ETH'],
  signals: [{ id: SIGNAL_ID, token: 'BTC', action: 'buy', processor: 'Tesla' } as Signal],
};

const find = (text: string, change: Partial<Known> = {}) =>
  findCommands(readQuery(text), { ...known, ...change }).map(({ group, label }) => `${group}: ${label}`);

test('lists the pages that have a screen, settings and help for an empty search', () => {
  expect(find('')).toEqual([
    'Pages: Dashboard',
    'Pages: Signals',
    'Pages: Users',
    'Pages: Admin Dashboard',
    'Pages: Settings',
    'Help: Keyboard Shortcuts',
  ]);
});

test('finds pages by any of their words and by their path', () => {
  expect(find('  SIGN ')).toEqual(['Pages: Signals']);
  expect(find('create')).toEqual(['Pages: Users']);
  expect(find('board adm')).toEqual(['Pages: Admin Dashboard']);
});

test('puts users whose name starts with the search first, and links to their settings', () => {
  expect(find('anna')).toEqual(['Users: anna@example.com', 'Users: joanna@example.com']);
  expect(findCommands('a0000000-0000-4000-8000-000000000002', known)).toMatchObject([
    {
      label: 'anna@example.com',
      address: '/settings?userId=a0000000-0000-4000-8000-000000000002',
    },
  ]);
});

test('links tokens to their signals', () => {
  expect(findCommands('btc', known)).toMatchObject([
    { label: 'BTC', address: '/signals?token=BTC' },
    { label: 'WBTC', address: '/signals?token=WBTC' },
  ]);
});

test('limits each group to six commands', () => {
  const users = Array.from({ length: 9 }, (_, index) => ({
    id: `${index}`,
    username: `u${index}@example.com`,
  }));
  expect(find('@example', { users })).toHaveLength(6);
});

test.each([
  '0189',
  '01890a5d-ac',
  '8057',
  '0189...8057',
  '...8057',
  SIGNAL_ID,
  ` ${SIGNAL_ID.toUpperCase()} `,
])('finds a signal by %j', (text) => {
  expect(find(text)).toEqual(['Signals: 0189...8057  BTC Buy']);
});

test.each(['018', '805', '0189...8058', '0189...80...57', '5dac'])('does not find a signal by %j', (text) => {
  expect(find(text)).toEqual([]);
});

describe('an ordinary user', () => {
  test('finds pages and nothing that only administrators see', () => {
    expect(find('', { isAdmin: false })).not.toContain('Pages: Admin Dashboard');
    for (const text of ['anna', 'btc', '0189']) expect(find(text, { isAdmin: false })).toEqual([]);
  });
});

test('looks up complete ids only', () => {
  expect(isFullId(readQuery(` ${SIGNAL_ID.toUpperCase()}`))).toBe(true);
  expect(isFullId(SIGNAL_ID.slice(1))).toBe(false);
});
