import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '#contract/errors.ts';
import { AppError, errorBodyOf, invalidFields, toAppError } from './errors.ts';

const withCode = (code: string, fields: object = {}) => Object.assign(new Error('x'), { code, ...fields });
/** Wraps an error as the query builder does. */
const wrapped = (cause: Error) => new Error('Failed query: select 1', { cause });

describe('the answer to a failure', () => {
  test.each([
    ['a connection refused', withCode('ECONNREFUSED')],
    ['a missing socket of the database', withCode('ENOENT', { syscall: 'connect' })],
    ['a server shutting down', withCode('57P01')],
    ['a server starting up', withCode('57P03')],
    ['a lost connection', withCode('08006')],
    ['a pooler without a connection', withCode('08P01', { severity: 'FATAL' })],
    ['too many connections', withCode('53300')],
    ['a full disk', withCode('53100')],
    ['a read-only server', withCode('25006')],
    ['a statement over its time', withCode('57014')],
    ['a deadlock', withCode('40P01')],
    ['a connection cut', new Error('Connection terminated unexpectedly')],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
    ['a refusal on every address', new AggregateError([withCode('ECONNREFUSED')], '')],
  ])('is 503 with a retry for %s', (_name, error) => {
    for (const seen of [error, wrapped(error)]) {
      const known = toAppError(seen);
      expect(known).toMatchObject({ code: 'unavailable', status: 503, retryAfterSeconds: 5 });
      expect(known.cause).toBe(seen);
    }
  });

  test.each([
    ['an error of the program', new Error('the secret detail')],
    ['a value that the database refused', wrapped(withCode('22P02'))],
    ['a statement that breaks the protocol', wrapped(withCode('08P01', { severity: 'ERROR' }))],
    ['a file that is missing', withCode('ENOENT', { syscall: 'open' })],
    ['something that is no error', 'text'],
  ])('is 500 without the message of %s', (_name, error) => {
    const known = toAppError(error);
    expect(known.code).toBe('internal');
    expect(errorBodyOf(known)).toEqual({ message: 'Internal server error' });
  });

  test('keeps the more exact text of an error of the catalogue', () => {
    const error = new AppError('workflowRunning', {
      message: 'A workflow is running',
      failureType: 'CONCURRENCY_CONFLICT',
    });
    expect(toAppError(error)).toBe(error);
    expect(errorBodyOf(error)).toEqual({
      message: 'A workflow is running',
      failureType: 'CONCURRENCY_CONFLICT',
    });
  });

  test('has the first message of invalid fields as its message', () => {
    const errors = [
      { path: 'a', message: 'A is required' },
      { path: 'b.c', message: 'C is too long' },
    ];
    expect(errorBodyOf(invalidFields(errors))).toEqual({ message: 'A is required', errors });
  });
});

// UPDATE=1 rewrites the page.
test('docs/errors.md matches the catalogue', () => {
  const path = join(import.meta.dirname, '../../../docs/errors.md');
  const page = [
    '# Errors',
    '',
    'Every refusal of the API, from `contract/errors.ts`. The body is `{"message"}`; a 400 that names fields also has',
    '`"errors": [{"path", "message"}]`, and the message is then that of the first field. A message may be more exact than',
    'the one below. 429 and 503 say in `Retry-After` how many seconds to wait. `settingsChanged` brings the settings as',
    'they are now in `data`.',
    '',
    '| status | code | message |',
    '|---|---|---|',
    ...Object.entries(ERRORS).map(
      ([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} |`,
    ),
    '',
  ].join('\n');
  if (process.env.UPDATE === '1') writeFileSync(path, page);
  expect(readFileSync(path, 'utf8')).toBe(page);
});
