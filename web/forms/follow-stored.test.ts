import { expect, test } from 'vitest';
import { followStored, withTheirUnit } from './follow-stored.ts';

const initial = { processor: 'Tesla', method: 'allocation', portion: '0.05', risk: '0.05' };
const together = ['method', 'portion', 'risk'] as const;
type Values = typeof initial;

const follow = (typed: Partial<Values>, elsewhere: Partial<Values>) =>
  followStored({
    values: { ...initial, ...typed },
    initial,
    stored: { ...initial, ...elsewhere },
    together,
  });

test('a field that nobody touched takes what was stored elsewhere, and the others stay', () => {
  expect(follow({ risk: '0.15' }, { processor: 'Any', portion: '0.2' })).toEqual({
    taken: { processor: 'Any', portion: '0.2' },
    kept: [],
  });
});

// Requirements: screens-user-settings-10
test('a field that was changed here and elsewhere keeps what was entered, and is named', () => {
  expect(follow({ processor: 'UD Bot' }, { processor: 'Any' })).toEqual({ taken: {}, kept: ['processor'] });
});

test('the same change here and elsewhere is none', () => {
  expect(follow({ processor: 'Any' }, { processor: 'Any' })).toEqual({ taken: {}, kept: [] });
});

test('nothing new leaves everything as it is', () => {
  expect(follow({ processor: 'Any' }, {})).toEqual({ taken: {}, kept: [] });
});

test('a choice that decides about other fields is taken over with them', () => {
  const elsewhere = { method: 'risk', portion: 'Auto' };
  expect(follow({ processor: 'Any' }, elsewhere).taken).toEqual({ ...elsewhere, risk: '0.05' });
});

test('where such a choice has changed, fields that were touched keep all that belongs to them', () => {
  expect(follow({ risk: '0.15' }, { method: 'risk', portion: 'Auto' })).toEqual({
    taken: {},
    kept: ['method', 'portion'],
  });
  expect(follow({ method: 'risk', portion: 'Auto' }, { risk: '0.1' })).toEqual({ taken: {}, kept: ['risk'] });
});

test('the stored value of a field comes with those that mean nothing without it', () => {
  const take = (typed: Partial<Values>, name: keyof Values) =>
    withTheirUnit([name], { values: { ...initial, ...typed }, initial, together });
  expect(take({ risk: '0.15' }, 'risk')).toEqual(['risk']);
  expect(take({ method: 'risk', portion: 'Auto' }, 'portion')).toEqual(['method', 'portion', 'risk']);
  expect(take({ method: 'risk' }, 'processor')).toEqual(['processor']);
});

test('after a save a form shows what is stored; what was typed while the answer was on its way stays', () => {
  const sent = { ...initial, portion: '0.10' };
  const stored = { ...initial, portion: '0.1' };
  const values = { ...sent, processor: 'Any' };
  expect(followStored({ values, initial: sent, stored }).taken).toEqual({ portion: '0.1' });
});
