import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ZodObject, type ZodType, z } from 'zod';
import { PROJECT_FOLDER } from '../config/project-folder.ts';
import { AppError } from './errors.ts';
import { validatorCompiler } from './request-guards-validator.ts';

/** The messages that a caller gets for each field. */
function refusals(schema: ZodType, data: unknown): { path: string; message: string }[] {
  const answer: unknown = validatorCompiler({ schema, method: 'POST', url: '/' })(data);
  const { error } = answer as { error?: unknown };
  return error instanceof AppError ? (error.errors ?? []) : [];
}

const WRONG = [null, 5, -1, 1.5, true, {}, [], ['x'], '', '?', 'x'.repeat(5000), { ['n'.repeat(200)]: {} }];

/** The library's wording, such as 'Too big: expected string to have <=200 characters'. */
const WORDS_OF_THE_VALIDATOR = /Invalid |: expected |, received |Too (big|small):|pattern/;

// Requirements: answers-3
test('refuses no field of the contract in the words of the validator', async () => {
  const folder = join(PROJECT_FOLDER, 'contract');
  const spoken: string[] = [];
  for (const file of readdirSync(folder).filter((name) => !name.includes('.test.'))) {
    const contract = (await import(join(folder, file))) as Record<string, unknown>;
    for (const [name, schema] of Object.entries(contract)) {
      if (!(schema instanceof ZodObject)) continue;
      const bodies = Object.keys(schema.shape).flatMap((field) => WRONG.map((value) => ({ [field]: value })));
      for (const { path, message } of [null, [], 'x', ...bodies].flatMap((body) => refusals(schema, body))) {
        spoken.push(`${name}.${path}: ${message}`);
      }
    }
  }
  expect(spoken.length).toBeGreaterThan(1000);
  expect([...new Set(spoken.filter((text) => WORDS_OF_THE_VALIDATOR.test(text)))]).toEqual([]);
});

test.each([
  [
    z.object({ firstName: z.string().max(3) }),
    { firstName: 'Anna' },
    'First name must be at most 3 characters',
  ],
  [z.object({ userName: z.string().min(3) }), { userName: 'A' }, 'User name must be at least 3 characters'],
  [z.object({ token: z.string().min(1) }), { token: '' }, 'Token is required'],
  [z.object({ token: z.string() }), {}, 'Token is required'],
  [z.object({ token: z.string() }), { token: 5 }, 'Token must be text'],
  [z.object({ token: z.string() }), { token: ['a', 'b'] }, 'Token must be given once'],
  [z.object({ isActive: z.boolean() }), { isActive: 'yes' }, 'Is active must be true or false'],
  [z.object({ kind: z.enum(['signal', 'candle']) }), { kind: 'x' }, 'Kind must be one of signal, candle'],
  [z.object({ kind: z.enum(['signal', 'candle']) }), {}, 'Kind is required'],
  [z.object({ generateNewKey: z.literal(true) }), { generateNewKey: 1 }, 'Generate new key must be true'],
  [z.object({ signalId: z.uuid() }), { signalId: 'x' }, 'Signal id must be an id'],
  [z.object({ token: z.string().regex(/^[A-Z]+$/) }), { token: 'x' }, 'Token is not valid'],
  [z.object({ price: z.union([z.string(), z.number()]) }), { price: true }, 'Price is not valid'],
  [
    z.object({ names: z.array(z.string()).max(2) }),
    { names: ['a', 'b', 'c'] },
    'Names must be at most 2 entries',
  ],
  [z.object({ share: z.number().max(1) }), { share: 2 }, 'Share must be at most 1'],
  [z.object({ token: z.string().max(3, 'Too long for us') }), { token: 'long' }, 'Too long for us'],
  [z.object({}), undefined, 'The request has no body'],
  [z.object({}), [], 'The request is not valid'],
])('names the refused field in plain words: %#', (schema, data, message) => {
  expect(refusals(schema, data).map((error) => error.message)).toEqual([message]);
});
