import { describe, expect, test } from 'vitest';
import { keyInspectionIn } from './bitget-key.ts';

const answer = (authorities: unknown, userId: unknown = '4711') => ({
  code: '00000',
  data: { userId, inviterId: '1', ips: '', authorities, parentId: 2, traderType: 'not_trader' },
});

describe('what Bitget says of a key', () => {
  test.each<[string, string[], { mayTrade: boolean; mayWithdraw: boolean }]>([
    ['orders and positions', ['coow', 'cpow'], { mayTrade: true, mayWithdraw: false }],
    ['positions to read only', ['coow', 'cpor', 'stor'], { mayTrade: true, mayWithdraw: false }],
    ['the older word', ['trade', 'readonly'], { mayTrade: true, mayWithdraw: false }],
    ['reading alone', ['coor', 'cpor', 'stor', 'readonly'], { mayTrade: false, mayWithdraw: false }],
    ['spot alone', ['stow', 'smow'], { mayTrade: false, mayWithdraw: false }],
    ['orders without positions', ['coow'], { mayTrade: false, mayWithdraw: false }],
    ['moving between own wallets', ['coow', 'cpow', 'wtow'], { mayTrade: true, mayWithdraw: false }],
    ['withdrawing', ['coow', 'cpow', 'wwow'], { mayTrade: true, mayWithdraw: true }],
    ['withdrawing by another name', ['coow', 'cpow', 'Withdraw'], { mayTrade: true, mayWithdraw: true }],
    ['nothing', [], { mayTrade: false, mayWithdraw: false }],
  ])('%s', (_name, authorities, rights) => {
    expect(keyInspectionIn(answer(authorities))).toEqual({
      accountMode: 'classic',
      accountId: '4711',
      ...rights,
    });
  });

  test.each([
    ['nothing at all', null],
    ['text', 'coow'],
    ['an object', { coow: true }],
  ])('%s instead of a list of permissions says nothing', (_name, authorities) => {
    expect(() => keyInspectionIn(answer(authorities))).toThrow('no list of permissions');
  });

  test.each([[null], [''], [{}]])('an account id of %j is none', (userId) => {
    expect(keyInspectionIn(answer(['coow'], userId)).accountId).toBeNull();
  });

  test.each([[null], [undefined], ['x'], [{ data: null }], [[]]])('an answer of %j says nothing', (odd) => {
    expect(() => keyInspectionIn(odd)).toThrow('no list of permissions');
  });
});
