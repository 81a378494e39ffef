import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { core, ZodType } from 'zod';
import { ADMIN_PASSWORD, ADMIN_USERNAME, startWorld, type World } from '#test/world.ts';

let board: World;

beforeAll(async () => {
  board = await startWorld();
});
afterAll(() => board.close());
afterEach(() => vi.restoreAllMocks());

interface Text {
  /** Such as 'POST /api/auth/login body.username'. */
  place: string;
  schema: core.$ZodString;
}

/** Every text that a schema takes; a value of any kind is reported as a fault. */
function findTexts(type: core.$ZodType, place: string, faults: string[]): Text[] {
  const schema = type as core.$ZodTypes;
  const inner = (next: core.$ZodType, name = '') => findTexts(next, `${place}${name}`, faults);
  const { def } = schema._zod;
  switch (def.type) {
    case 'string':
      return [{ place, schema: schema as core.$ZodString }];
    case 'object':
      if (def.catchall !== undefined && def.catchall._zod.def.type !== 'never') faults.push(place);
      return Object.entries(def.shape).flatMap(([name, field]) => inner(field, `.${name}`));
    case 'optional':
    case 'nullable':
    case 'default':
      return inner(def.innerType);
    // A preprocessing step passes on its input.
    case 'pipe':
      return inner(def.in._zod.def.type === 'transform' ? def.out : def.in);
    case 'union':
      return def.options.flatMap((option) => inner(option));
    case 'record':
      return [...inner(def.keyType, '.<key>'), ...inner(def.valueType, '.<value>')];
    case 'array':
      if (!def.checks?.some((check) => check._zod.def.check === 'max_length')) faults.push(`${place}: array`);
      return inner(def.element, '[]');
    case 'enum':
    case 'literal':
    case 'boolean':
    case 'number':
    case 'null':
      return [];
    default:
      faults.push(`${place}: ${def.type}`);
      return [];
  }
}

function readRoutes(): { texts: Text[]; faults: string[] } {
  const faults: string[] = [];
  const texts = board.app.declaredRoutes.flatMap(({ method, url, schema = {} }) =>
    (['body', 'querystring', 'params'] as const).flatMap((part) => {
      const type = schema[part] as ZodType | undefined;
      return type?._zod === undefined ? [] : findTexts(type, `${method} ${url} ${part}`, faults);
    }),
  );
  return { texts, faults };
}

const CHARACTERS = 300_000;

describe('every text of every body, query and path', () => {
  test('is found in fields of every kind of schema', () => {
    const places = readRoutes().texts.map(({ place }) => place);
    expect(places).toContain('POST /api/auth/login body.username');
    expect(places).toContain('GET /api/signals querystring.token');
    expect(places).toContain('PUT /api/hooks/:id params.id');
    expect(places).toContain('POST /api/admin/create-client body.firstName');
    expect(places).toContain('POST /api/hooks/:id/test-deliveries body.payload.<value>');
    expect(places.length).toBeGreaterThan(100);
  });

  test('is declared: no route takes a value of any kind and size', () => {
    expect(readRoutes().faults).toEqual([]);
  });

  test.each([
    ['combining marks', '\u0301\u0316'.repeat(CHARACTERS / 2)],
    ['spaces', ' '.repeat(CHARACTERS)],
    ['digits', '1'.repeat(CHARACTERS)],
    ['letters', 'a'.repeat(CHARACTERS)],
  ])('is refused for its length before any other rule checks it: %s', (_name, long) => {
    const wrong = readRoutes().texts.flatMap(({ place, schema }) => {
      const { issues } = (schema as unknown as ZodType).safeParse(long).error ?? { issues: [] };
      const [issue] = issues;
      const isShort = issues.length === 1 && (issue?.code === 'too_big' || isBounded(issue));
      return isShort ? [] : [`${place}: ${issues.map(({ code }) => code).join(', ') || 'accepted'}`];
    });
    expect(wrong).toEqual([]);
  });
});

/** A pattern without unlimited repetitions also limits the length. */
function isBounded(issue: core.$ZodIssue | undefined): boolean {
  if (issue?.code !== 'invalid_format') return false;
  const pattern = String(issue.pattern ?? '').replace(/\\.|\[[^\]]*\]/g, 'x');
  return /^\/\^.*\$\/\w*$/.test(pattern) && !/[*+]|\{\d+,\}/.test(pattern);
}

describe('a sign-in', () => {
  const login = (username: string, password: string) =>
    board.anonymous.post('/api/auth/login', { username, password });

  test('over 16 KiB is 413, and up to that it is read', async () => {
    const body = (bytes: number) => `{"username":"a","password":"b","x":"${'x'.repeat(bytes - 38)}"}`;
    const send = (payload: string) =>
      board.anonymous.send({
        method: 'POST',
        url: '/api/auth/login',
        headers: { 'content-type': 'application/json' },
        payload,
      });
    expect(body(16 * 1024)).toHaveLength(16 * 1024);
    expect((await send(body(16 * 1024))).statusCode).toBe(401);
    const answer = await send(body(16 * 1024 + 1));
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toEqual({ message: 'The request is too large' });
    expect((await login('\u0301\u0316'.repeat(64 * 1024), 'b')).statusCode).toBe(413);
  });

  test('with a name or password that no account can have is refused like any other', async () => {
    const normalize = vi.spyOn(String.prototype, 'normalize');
    const names = ['x'.repeat(51), '\u0301\u0316'.repeat(3_000), `${'x'.repeat(60)}@example.com`];
    for (const [username, password] of [
      ...names.map((name) => [name, 'wrong'] as const),
      ['nobody@example.com', 'x'.repeat(10_000)] as const,
      [ADMIN_USERNAME, 'x'.repeat(10_000)] as const,
    ]) {
      const answer = await login(username, password);
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toEqual({ message: 'Invalid username or password' });
    }
    expect(normalize).toHaveBeenCalled();
    const normalised = normalize.mock.contexts.map((text) => String(text).length);
    expect(Math.max(...normalised)).toBeLessThanOrEqual(50);
  });

  test('accepts a name with blanks around it', async () => {
    const padded = `${' '.repeat(50)}${ADMIN_USERNAME.toUpperCase()}  `;
    expect((await login(padded, ADMIN_PASSWORD)).statusCode).toBe(200);
  });
});

describe('a request to an address that does not exist', () => {
  test('is answered before its body is read', async () => {
    for (const url of ['/api/nothing', '/hooks/nothing', '/nothing']) {
      const answer = await board.anonymous.send({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        payload: '{"not": json',
      });
      expect(answer.statusCode, url).toBe(404);
    }
  });
});
