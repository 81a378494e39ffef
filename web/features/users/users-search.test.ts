import { expect, test } from 'vitest';
import { ORDER_CHOICES, orderAfterClick, orderInAddress, orderOf } from './users-order.ts';
import { parseUsersSearch } from './users-search.ts';

const newestFirst = { sort: 'createdAt', direction: 'desc' } as const;

test('lists the newest users first by default', () => {
  expect(orderOf({})).toEqual(newestFirst);
  expect(orderOf({ direction: 'asc' })).toEqual(newestFirst);
  expect(orderInAddress(newestFirst)).toEqual({ sort: undefined, direction: undefined });
});

test('starts a header with its own order and reverses it on the next click', () => {
  const byName = orderAfterClick(newestFirst, 'name');
  expect(byName).toEqual({ sort: 'name', direction: 'asc' });
  expect(orderAfterClick(byName, 'name')).toEqual({ sort: 'name', direction: 'desc' });
  expect(orderAfterClick(newestFirst, 'createdAt')).toEqual({ sort: 'createdAt', direction: 'asc' });
  expect(orderAfterClick(byName, 'activeTrading')).toEqual({ sort: 'activeTrading', direction: 'desc' });
});

test('reads every order back from the URL', () => {
  expect(ORDER_CHOICES).toHaveLength(10);
  for (const { order } of ORDER_CHOICES) {
    const inAddress = parseUsersSearch(orderInAddress(order));
    expect(orderOf(inAddress)).toEqual(order);
  }
});

test('ignores invalid values in the URL', () => {
  const raw = { page: '0', sort: 'passwordHash', direction: 'up', search: '  ' };
  expect(Object.values(parseUsersSearch(raw)).filter((value) => value !== undefined)).toEqual([]);
  expect(parseUsersSearch({ search: ` ${'a'.repeat(120)}` }).search).toHaveLength(100);
});
