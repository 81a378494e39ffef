import shapes from './answer-shapes.json' with { type: 'json' };

/**
 * 'string', 'number', 'boolean' and 'any'; 'true' and 'false' for fields with a fixed value; `['null', shape]`,
 * `['list', shape]`, `['or', …shapes]`; or an object of fields, where a question mark makes a field optional.
 */
export type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

type Fields = Record<string, unknown>;

const ROUTES = Object.entries(shapes as Record<string, Shape>).map(([route, shape]) => {
  const [method = '', path = ''] = route.split(' ');
  return { method, segments: path.split('/'), shape };
});

/**
 * Completes an answer with every field of its contract, so that no screen fails on a missing one: during an upgrade,
 * page and server may have different versions. Missing values stay recognisable: an empty text, NaN or null. Throws
 * when the answer as a whole has the wrong type, and when the answer to a read lacks a list, because an empty list
 * would read as 'there is none'.
 */
export function completeAnswer(request: { method: string; path: string }, answer: unknown): unknown {
  const shape = findShape(request);
  if (shape === undefined) return answer;
  if (isList(shape) ? !Array.isArray(answer) : typeof shape === 'object' && !isFieldsOf(answer))
    throw new Error(UNREADABLE);
  if (ONLY_ASKS.test(`${request.method} ${request.path}`) && !isChoice(shape) && isFieldsOf(answer)) {
    const lacking = Object.entries(shape).find(
      ([name, field]) => isList(field) && !Array.isArray(answer[name]),
    );
    if (lacking) throw new Error(`${UNREADABLE}: it lacks '${lacking[0]}'`);
  }
  return complete(shape, answer);
}

/** Read-only requests. Other requests changed something, so their success must not turn into a failure. */
const ONLY_ASKS = /^GET |^POST \/api\/signal\/check-eligibility$/;

const UNREADABLE = 'The answer of the server cannot be read';

function findShape({ method, path }: { method: string; path: string }): Shape | undefined {
  const segments = path.replace(/\?.*$/, '').split('/');
  const fits = (route: (typeof ROUTES)[number]) =>
    route.method === method &&
    route.segments.length === segments.length &&
    route.segments.every((segment, index) => segment.startsWith('{') || segment === segments[index]);
  // Prefer a route without parameters: '/api/signals/stats' is not a signal's id.
  return (ROUTES.find((route) => fits(route) && !route.segments.some(isParameter)) ?? ROUTES.find(fits))
    ?.shape;
}

const isParameter = (segment: string) => segment.startsWith('{');

const isFieldsOf = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function complete(shape: Shape, value: unknown): unknown {
  if (typeof shape === 'string') return completePlain(shape, value);
  if (!isChoice(shape)) return completeFields(shape as { [name: string]: Shape }, value);
  const [kind, ...shapesOf] = shape;
  const [first = 'any'] = shapesOf;
  if (kind === 'null') return value === null || value === undefined ? null : complete(first, value);
  if (kind === 'list') return Array.isArray(value) ? value.flatMap((row) => completeRow(first, row)) : [];
  return complete(chooseShape(shapesOf, value), value);
}

const isChoice = (shape: Shape): shape is readonly Shape[] => Array.isArray(shape);
const isList = (shape: Shape): boolean => isChoice(shape) && shape[0] === 'list';

const completeRow = (shape: Shape, row: unknown): unknown[] =>
  row === null || row === undefined ? [] : [complete(shape, row)];

function completePlain(shape: string, value: unknown): unknown {
  switch (shape) {
    case 'string':
      return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
    case 'number':
      return value === null || value === '' || Array.isArray(value) ? Number.NaN : Number(value);
    case 'boolean':
    case 'true':
    case 'false':
      return value === true;
    default:
      return value ?? null;
  }
}

function completeFields(fields: { [name: string]: Shape }, value: unknown): Fields {
  const given = isFieldsOf(value) ? value : {};
  const completed = { ...given };
  for (const [name, shape] of Object.entries(fields)) {
    const key = name.replace(/\?$/, '');
    if (key === name) completed[key] = complete(shape, given[key]);
    else if (given[key] === null || given[key] === undefined) delete completed[key];
    else completed[key] = complete(shape, given[key]);
  }
  return completed;
}

/** The shape with matching fixed fields that shares most fields with the answer. A missing fixed field is false. */
function chooseShape(shapesOf: readonly Shape[], value: unknown): Shape {
  if (!isFieldsOf(value)) return shapesOf.find((shape) => shape === typeof value) ?? shapesOf[0] ?? 'any';
  const known = (shape: Shape) => Object.keys(shape).filter((name) => name in value).length;
  const fits = (shape: Shape) =>
    typeof shape === 'object' &&
    Object.entries(shape).every(
      ([name, field]) =>
        (field !== 'true' && field !== 'false') || (value[name] === true) === (field === 'true'),
    );
  const fitting = shapesOf.filter(fits).sort((one, other) => known(other) - known(one));
  return fitting[0] ?? shapesOf.at(-1) ?? 'any';
}
