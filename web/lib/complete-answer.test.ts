import { expect, test } from 'vitest';
import { complete, completeAnswer, type Shape } from './complete-answer.ts';

const ROW: Shape = {
  id: 'string',
  count: 'number',
  done: 'boolean',
  note: ['null', 'string'],
  'more?': 'string',
};

test('fills in missing and null fields with recognisable values', () => {
  const empty = { id: '', count: Number.NaN, done: false, note: null };
  expect(complete(ROW, {})).toEqual(empty);
  expect(complete(ROW, { id: null, count: null, done: null, note: null, more: null })).toEqual(empty);
  expect(complete({ inner: ROW, rows: ['list', ROW] }, { inner: null })).toEqual({ inner: empty, rows: [] });
});

test('keeps a complete answer and its unknown fields', () => {
  const whole = { id: 'a', count: 2, done: true, note: 'b', more: 'c', unknown: [1] };
  expect(complete(['list', ROW], [whole])).toEqual([whole]);
});

test('drops rows that are null', () => {
  expect(complete(['list', 'string'], ['a', null, 'b'])).toEqual(['a', 'b']);
});

test('chooses a shape by its fixed fields; an answer without them is a failure', () => {
  const either: Shape = ['or', { success: 'true', id: 'string' }, { success: 'false', error: 'string' }];
  expect(complete(either, { success: true })).toEqual({ success: true, id: '' });
  expect(complete(either, { success: false })).toEqual({ success: false, error: '' });
  expect(complete(either, { id: 'a' })).toEqual({ id: 'a', success: false, error: '' });
});

test('finds the shape by method and path, whatever the parameters and the query', () => {
  const stats = completeAnswer({ method: 'GET', path: '/api/signals/stats?x=1' }, { perDay: [] });
  expect(stats).toMatchObject({ totalSignals: Number.NaN });
  const signal = completeAnswer({ method: 'GET', path: '/api/signals/01890000' }, {});
  expect(signal).toMatchObject({ priceLogHash: null, parameters: {} });
  expect(completeAnswer({ method: 'GET', path: '/api/auth/user' }, {})).toEqual({});
});

test.each([
  ['/api/signals', null],
  ['/api/signals', []],
  ['/api/signals/tokens', {}],
  ['/api/signals', { total: 1 }],
  ['/api/signals', { total: 1, signals: null }],
])('refuses an answer to %s that is %j', (path, answer) => {
  expect(() => completeAnswer({ method: 'GET', path }, answer)).toThrow(
    'The answer of the server cannot be read',
  );
});

test('treats a sent order as a success even if its answer lacks a list', () => {
  const sent = completeAnswer(
    { method: 'POST', path: '/api/position-maker/submit-order' },
    { success: true, done: true },
  );
  expect(sent).toMatchObject({ success: true, done: true, apiCallSequence: [] });
});
