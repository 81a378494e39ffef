import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startWorld } from '#test/world.ts';

const FILE = join(import.meta.dirname, '../web/lib/answer-shapes.json');

/**
 * The readers of these answers have their own defaults: an answer without a user means 'signed out', and settings fall
 * back on those of a new user.
 */
const OWN_READERS = /^\/api\/(auth\/(?!sessions)|user-settings$|admin\/user-settings\/\{userId\}$)/;

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

type Shape = string | Shape[] | { [name: string]: Shape };

/** The shape in the notation that web/lib/complete-answer.ts reads. */
function shapeOf(schema: Schema): Shape {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const shapes = choices.filter(({ type }) => type !== 'null').map(shapeOf);
    // The API description leaves out `z.unknown()` as a choice.
    if (shapes.includes('any') || choices.length === 1) return 'any';
    const [only] = shapes;
    const shape: Shape = shapes.length === 1 && only !== undefined ? only : ['or', ...shapes];
    return shapes.length < choices.length ? ['null', shape] : shape;
  }
  const types = [schema.type ?? 'any'].flat();
  const [type = 'any'] = types.filter((one) => one !== 'null');
  if (types.length > 1) return ['null', shapeOf({ ...schema, type })];
  if (type === 'array') return ['list', shapeOf(schema.items ?? {})];
  if (type === 'object') {
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, property]) => [
        schema.required?.includes(name) ? name : `${name}?`,
        shapeOf(property),
      ]),
    );
  }
  if (type === 'integer') return 'number';
  return type === 'boolean' && schema.enum?.length === 1 ? String(schema.enum[0]) : type;
}

test('the browser knows the shape of every answer', async () => {
  const board = await startWorld();
  try {
    await board.app.ready();
    const { paths = {} } = board.app.swagger() as {
      paths?: Record<string, Record<string, { responses?: Record<string, Answer> }>>;
    };
    const shapes = Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/') && path !== '/api/events' && !OWN_READERS.test(path))
      .flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, { responses = {} }]) => {
          const schema = (responses[200] ?? responses[201])?.content?.['application/json']?.schema;
          return schema ? [[`${method.toUpperCase()} ${path}`, shapeOf(schema)] as const] : [];
        }),
      )
      .sort(([one], [other]) => (one < other ? -1 : 1));
    expect(shapes.length).toBeGreaterThan(40);
    if (process.env.UPDATE === '1') {
      // One answer per line, so that a diff shows which one changed.
      const lines = shapes.map(([route, shape]) => `${JSON.stringify(route)}: ${JSON.stringify(shape)}`);
      writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`);
    }
    expect(
      JSON.parse(readFileSync(FILE, 'utf8')),
      'UPDATE=1 npx vitest run server/answer-shapes.test.ts rewrites the file',
    ).toEqual(Object.fromEntries(shapes));
  } finally {
    await board.close();
  }
});

interface Answer {
  content?: Record<string, { schema?: Schema }>;
}
