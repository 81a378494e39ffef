// @vitest-environment jsdom
import { createRoot, type Root } from 'react-dom/client';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import answerShapes from '../lib/answer-shapes.json' with { type: 'json' };
import { completeAnswer, type Shape } from '../lib/complete-answer.ts';
import { toasts } from '../ui/toast.ts';
import { Providers } from './providers.tsx';
import recording from './recorded-answers.json' with { type: 'json' };
import { SessionGate } from './session-gate.tsx';

/*
 * The whole app with answers that a real server gave (server/recorded-answers.test.ts), once as they are and then
 * without each of their fields in turn. Rows of a list are repeated, each without another field, so that one look at
 * the screen is enough for all of them.
 */

const { ids } = recording;
const RECORDED: Readonly<Record<string, unknown>> = recording.answers;

interface Screen {
  path: string;
  /** Among what it asks for, to be sure that it was there to be looked at. */
  reads: readonly string[];
  /** What is done on it before it is looked at. */
  act?: () => Promise<void>;
  /** What it reads with parts of its own, although another screen was looked at for it. */
  again?: readonly string[];
  /** Answers other than the recorded ones. */
  answers?: Readonly<Record<string, unknown>>;
}

const ofSignal = (part = '') => `GET /api/signals/${ids.signal}${part}`;
const ofWorkflow = (part: string) => `GET /api/automation-workflows/${ids.workflow}/${part}`;
const ORDERS = 'GET /api/position-maker/orders';
const orderOf = (answers: typeof recording.answers) => answers[ORDERS].order;
const WHY = ofSignal(`/why/${ids.follower}`);
const calculator = `/position-calculator?signalId=${ids.signal}&userId=${ids.user}`;

const screen = (path: string, ...reads: string[]): Screen => ({ path, reads });
const signal = (dialog: string, ...reads: string[]) =>
  screen(`/signals?dialog=${dialog}&signal=${ids.signal}`, ...reads);
const workflow = (dialog: string, ...reads: string[]) =>
  screen(`/automation-workflows?dialog=${dialog}&workflow=${ids.workflow}&signal=${ids.signal}`, ...reads);

const SESSION = recording.answers['GET /api/auth/user'];
const OF_ORDINARY_USER = { ...SESSION, user: { ...SESSION.user, isAdmin: false } };

const SCREENS: Screen[] = [
  screen('/', 'GET /api/auth/user', 'GET /api/my-positions', 'GET /api/attention'),
  screen('/settings', 'GET /api/user-settings', 'GET /api/user-settings/exchange-credentials'),
  screen(
    `/settings?userId=${ids.user}`,
    `GET /api/admin/user/${ids.user}`,
    `GET /api/admin/user-settings/${ids.user}`,
  ),
  {
    ...screen('/settings', 'GET /api/my-trading-halts'),
    answers: { 'GET /api/auth/user': OF_ORDINARY_USER },
  },
  screen('/create-client', 'GET /api/admin/users'),
  screen('/configuration', 'GET /api/hooks', 'GET /api/admin/hooks'),
  screen('/admin', 'GET /api/environment/status'),
  screen('/price-logs', 'GET /api/price-logs', 'GET /api/price-logs/timeframes'),
  screen(`/price-logs?log=${ids.priceLog}`, 'GET /api/price-logs'),
  screen(`/price-logs?dialog=chart&log=${ids.priceLog}`, 'GET /api/price-logs/candles'),
  screen('/signals', 'GET /api/signals', 'GET /api/signals/stats'),
  signal('signal', ofSignal(), ofSignal('/chart')),
  signal('sltp', ofSignal('/sltp')),
  signal('workflows', ofSignal('/workflows')),
  { ...signal('trades', ofSignal('/trades')), act: openAll },
  signal('users', ofSignal('/users')),
  signal('users&tab=breakdown', 'POST /api/signal/check-eligibility'),
  signal(`users&tab=why&user=${ids.follower}`, WHY, 'GET /api/users'),
  screen('/automation-workflows', 'GET /api/automation-workflows', 'GET /api/automation-workflows/statuses'),
  workflow('signal', ofSignal()),
  workflow('users', ofWorkflow('users')),
  { ...workflow('steps', ofWorkflow('steps')), act: openAll },
  workflow(`users&tab=why&user=${ids.follower}`, WHY),
  {
    ...screen(
      calculator,
      ofSignal(),
      'POST /api/internal/position-generator/preview',
      'GET /api/admin/users',
    ),
    act: () => click('Calculate'),
    again: [ofSignal(), 'GET /api/admin/users'],
  },
  screen(`${calculator}&dialog=price-log`, ofSignal()),
  {
    ...screen(`${calculator}&calculation=${ids.calculation}&dialog=result`, ORDERS),
    act: openAll,
  },
  {
    ...screen(
      `${calculator}&calculation=${ids.calculation}&dialog=order`,
      'POST /api/position-maker/prepare',
    ),
    answers: { [ORDERS]: { order: null } },
  },
  {
    // While it runs.
    ...screen(`${calculator}&calculation=${ids.calculation}&dialog=order`, ORDERS),
    answers: { [ORDERS]: { order: { ...orderOf(recording.answers), done: false } } },
  },
  screen('/position-maker', 'GET /api/position-maker/status', 'GET /api/position-maker/logs'),
  screen('/positions', 'GET /api/positions', 'GET /api/admin/trading-halts'),
];

type Fields = Record<string, unknown>;
type Answers = Record<string, unknown>;
/** The names and positions that lead to a field. */
type Path = readonly (string | number)[];

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isRows = (value: unknown): value is Fields[] =>
  Array.isArray(value) && value.length > 0 && value.every(isFields);

// --- The page -------------------------------------------------------------------------------------------------

/** Answers in place of the recorded ones. */
let changed: Answers = {};
/** What the screen asked for. */
let asked = new Set<string>();
let pending = 0;
let errors: string[] = [];
let root: Root | null = null;

async function answer(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const { pathname } = new URL(String(input), location.origin);
  const key = `${init?.method ?? 'GET'} ${pathname}`;
  asked.add(key);
  pending += 1;
  await null;
  pending -= 1;
  const found = changed[key] ?? RECORDED[key] ?? RECORDED[key.replace(/^PUT/, 'GET')];
  return found === undefined
    ? new Response(JSON.stringify({ message: `Nothing was recorded for ${key}` }), { status: 404 })
    : new Response(JSON.stringify(found), { status: 200 });
}

class Silent {
  addEventListener() {}
  close() {}
  observe() {}
  unobserve() {}
  disconnect() {}
}

/** What jsdom has not: sizes, a canvas and the stream of events. None of them has to do with an answer. */
beforeAll(() => {
  // React records a stack for every element, which takes a fifth of the time.
  Object.defineProperty(Error, 'stackTraceLimit', { get: () => 0, set: () => {}, configurable: true });
  vi.stubGlobal('fetch', answer);
  vi.stubGlobal('EventSource', Silent);
  vi.stubGlobal('ResizeObserver', Silent);
  vi.stubGlobal('IntersectionObserver', Silent);
  vi.stubGlobal('matchMedia', (media: string) => ({
    ...new Silent(),
    matches: false,
    media,
    addEventListener() {},
    removeEventListener() {},
    addListener() {},
    removeListener() {},
  }));
  vi.stubGlobal('scrollTo', () => {});
  const canvas: unknown = new Proxy(() => {}, {
    get: (_target, name) =>
      name === Symbol.toPrimitive ? () => 0 : name === 'canvas' ? document.createElement('canvas') : canvas,
    set: () => true,
    apply: () => canvas,
  });
  HTMLCanvasElement.prototype.getContext = () => canvas as never;
  vi.spyOn(console, 'error').mockImplementation((...said: unknown[]) => {
    const error = said.find((one) => one instanceof Error);
    if (error !== undefined) errors.push(String(error));
  });
  vi.spyOn(console, 'warn').mockImplementation((...said: unknown[]) => {
    const error = said.find((one) => one instanceof Error);
    if (error !== undefined) errors.push(String(error));
  });
  window.addEventListener('error', ({ error, message }) => errors.push(String(error ?? message)));
});
afterEach(leave);
afterAll(() => {
  Object.defineProperty(Error, 'stackTraceLimit', { value: 10, writable: true, configurable: true });
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function leave() {
  root?.unmount();
  root = null;
  const shown = toasts.shown();
  if (shown) toasts.remove(shown.id);
  document.body.replaceChildren();
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve));
const QUIET_TURNS = 3;
const MOST_TURNS = 2_000;

/** Until the page is there, and nothing is asked for and nothing changes any more. */
async function settle() {
  let quiet = 0;
  let mutations = 0;
  const observer = new MutationObserver(() => {
    mutations += 1;
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  for (let turns = 0; quiet < QUIET_TURNS && turns < MOST_TURNS; turns += 1) {
    const [askedBefore, mutationsBefore] = [asked.size, mutations];
    await turn();
    const text = document.body.textContent ?? '';
    const isThere =
      document.querySelector('h1') !== null || ERROR_TITLES.some((title) => text.includes(title));
    const isBusy = !isThere || /Loading|Preparing order data/.test(text);
    quiet =
      pending === 0 && asked.size === askedBefore && mutations === mutationsBefore && !isBusy ? quiet + 1 : 0;
  }
  observer.disconnect();
}

async function click(name: string) {
  const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === name);
  button?.click();
  await settle();
}

async function openAll() {
  for (const summary of document.querySelectorAll('summary')) summary.click();
  await settle();
}

async function show(screen: Screen, answers: Answers): Promise<void> {
  leave();
  changed = answers;
  asked = new Set();
  errors = [];
  history.replaceState(null, '', screen.path);
  const container = document.body.appendChild(document.createElement('div'));
  root = createRoot(container);
  root.render(
    <Providers>
      <SessionGate />
    </Providers>,
  );
  await settle();
  await screen.act?.();
  await settle();
}

const BAD_TEXT = /undefined|NaN|\bnull\b|Invalid Date|\[object Object\]/;
const ERROR_TITLES = ['This page could not be shown', 'Something went wrong'];
/**
 * What is true of a list without rows and of a figure that is none, but not of one that is missing. Where null means
 * that there is none, a missing field reads so as well.
 */
const UNTRUE_TEXT =
  /^(No (?!parameters available|matching price log|stop$|reason was given).*|-?\$?0(\.0+)?[%x]?)$/;

/** Every text on the screen; JSON is shown as it is. */
function textsOnScreen(): string[] {
  const copy = document.body.cloneNode(true) as HTMLElement;
  for (const json of copy.querySelectorAll('pre')) json.remove();
  const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
  const texts: string[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode.textContent ?? '');
  for (const element of copy.querySelectorAll('[data-tip], [aria-label], [title]')) {
    for (const name of ['data-tip', 'aria-label', 'title']) texts.push(element.getAttribute(name) ?? '');
  }
  return texts;
}

/** What nobody should ever see, or what the screen with whole answers does not say. */
function problemsOnScreen(said: ReadonlySet<string> | null): string[] {
  const bad = textsOnScreen().filter(
    (text) =>
      BAD_TEXT.test(text) ||
      ERROR_TITLES.some((title) => text.includes(title)) ||
      (said !== null && UNTRUE_TEXT.test(text) && !said.has(text)),
  );
  const isThere = document.querySelector('h1') !== null;
  return [
    ...new Set([
      ...errors,
      ...bad.map((text) => `shows '${text.slice(0, 120)}'`),
      ...(isThere ? [] : ['shows no page']),
    ]),
  ];
}

// --- The variants ---------------------------------------------------------------------------------------------

/** Every field, by its path; of a list the fields of its first row. */
function pathsIn(value: unknown, before: Path = []): Path[] {
  if (isRows(value)) return pathsIn(value[0], [...before, 0]);
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const path = [...before, name];
    // What a charting platform or an exchange sent has no promised fields.
    return FREE_FORM.has(name) ? [path] : [path, ...pathsIn(field, path)];
  });
}
const FREE_FORM = new Set([
  'parameters',
  'inputData',
  'outputData',
  'metadata',
  'requestData',
  'responseData',
  'orderPayload',
  'errorDetails',
]);

type Loss = 'dropped' | 'null';
const LOSSES: readonly Loss[] = ['dropped', 'null'];

function lose(value: unknown, path: Path, loss: Loss): unknown {
  const copy = structuredClone(value);
  const parent = path.slice(0, -1).reduce<unknown>((at, name) => (at as Fields)[name], copy) as Fields;
  const name = path.at(-1) ?? '';
  if (loss === 'null') parent[name] = null;
  else delete parent[name];
  return copy;
}

interface Variant {
  name: string;
  answer: unknown;
}

/** One variant for each field outside of lists, and one for all fields of a list's rows together. */
function variantsOf(answer: unknown): Variant[] {
  const paths = pathsIn(answer);
  const variants: Variant[] = LOSSES.flatMap((loss) =>
    paths
      .filter((path) => !path.includes(0))
      .map((path) => ({ name: `${path.join('.')} ${loss}`, answer: lose(answer, path, loss) })),
  );
  for (const [list, ofRows] of Map.groupBy(
    paths.filter((path) => path.includes(0)),
    (path) => path.slice(0, path.indexOf(0)).join('.'),
  )) {
    const at = ofRows[0]?.slice(0, ofRows[0].indexOf(0)) ?? [];
    variants.push({ name: `${list || 'the list'}: rows`, answer: withRows(answer, at, ofRows) });
  }
  return variants;
}

/** The list with its first row again and again: whole, and then each time without another field. */
function withRows(answer: unknown, at: Path, paths: readonly Path[]): unknown {
  const copy = structuredClone(answer);
  const list = at.reduce<unknown>((value, name) => (value as Fields)[name], copy) as Fields[];
  const [first = {}] = list;
  const rows = paths.flatMap((path) =>
    LOSSES.map((loss, index) => {
      const inRow = path.slice(at.length + 1);
      const row = { ...structuredClone(first) };
      if ('id' in row) row.id = `${String(row.id)}-${path.join('-')}-${index}`;
      return lose(row, inRow, loss);
    }),
  );
  list.splice(0, list.length, first, ...(rows as Fields[]));
  // A row that is none at all.
  (list as unknown[]).push(null);
  return copy;
}

// --- Lists of which nothing was recorded get a row of their shape -----------------------------------------------

function rowOf(shape: Shape): unknown {
  if (shape === 'string') return 'text';
  if (shape === 'number') return 7;
  if (shape === 'boolean' || shape === 'true') return true;
  if (shape === 'false') return false;
  if (typeof shape === 'string') return {};
  if (!Array.isArray(shape))
    return Object.fromEntries(
      Object.entries(shape).map(([name, field]) => [name.replace('?', ''), rowOf(field)]),
    );
  const [kind, first = 'any'] = shape as readonly Shape[];
  return kind === 'list' ? [rowOf(first)] : rowOf(first);
}

function filled(shape: Shape | undefined, value: unknown): unknown {
  if (shape === undefined || typeof shape === 'string') return value;
  if (Array.isArray(shape)) {
    const [kind, first = 'any'] = shape as readonly Shape[];
    if (kind === 'null') return value === null || value === undefined ? value : filled(first, value);
    if (kind !== 'list' || !Array.isArray(value)) return value;
    return value.length === 0 ? [rowOf(first)] : value.map((row) => filled(first, row));
  }
  if (!isFields(value)) return value;
  const fields = shape as { [name: string]: Shape };
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, filled(fields[name] ?? fields[`${name}?`], field)]),
  );
}

const FILLED = [
  '/api/admin/trading-halts',
  '/api/my-trading-halts',
  '/api/position-maker/orders-in-doubt',
  '/api/positions',
  '/api/my-positions',
].map((path) => `GET ${path}`);
const START: Answers = Object.fromEntries(
  FILLED.map((key) => [key, filled((answerShapes as Record<string, Shape>)[key], RECORDED[key])]),
);

// --- The test -------------------------------------------------------------------------------------------------

/** What a screen was looked at for. */
let variantsShown = 0;
const taken = new Set<string>();
/** One order is as good as another. */
const routeOf = (key: string) => key.replaceAll(/\/[0-9a-f]{8}-[0-9a-f-]{27}/g, '/{id}');

function asScreensReadIt(key: string, whole: unknown): string {
  const [method = '', path = ''] = key.split(' ');
  try {
    return JSON.stringify(completeAnswer({ method, path }, whole), (_name, value) =>
      Number.isNaN(value) ? 'not a number' : value,
    );
  } catch (error) {
    return String(error);
  }
}

test.each(SCREENS)(
  '$path shows its page whatever field of an answer is missing',
  async (screen) => {
    const start: Answers = { ...START, ...screen.answers };
    const wholeOf = (key: string) => start[key] ?? RECORDED[key.replace(/^PUT/, 'GET')];
    // The first time its code is loaded.
    await vi.waitFor(
      async () => {
        await show(screen, start);
        expect([...asked]).toEqual(expect.arrayContaining([...screen.reads]));
      },
      { timeout: 20_000, interval: 50 },
    );
    // Until two looks agree: parts whose code loads later are then on the screen that the variants are compared with.
    let said = new Set<string>();
    await vi.waitFor(
      async () => {
        const before = said;
        await show(screen, start);
        said = new Set(textsOnScreen());
        expect(said).toEqual(before);
      },
      { timeout: 20_000, interval: 200 },
    );
    expect(problemsOnScreen(null), 'with whole answers').toEqual([]);
    const found: string[] = [];
    const keys = [...asked].filter(
      (key) => !key.startsWith('PUT') && (!taken.has(routeOf(key)) || screen.again?.includes(key)),
    );
    expect(keys.filter((key) => wholeOf(key) === undefined)).toEqual([]);
    for (const key of keys) {
      if (taken.has(routeOf(key)) && !screen.again?.includes(key)) continue;
      taken.add(routeOf(key));
      const whole = wholeOf(key);
      const seen = new Set([asScreensReadIt(key, whole)]);
      for (const variant of variantsOf(whole)) {
        // Most fields are the same to a screen whether they are null or missing.
        const read = asScreensReadIt(key, variant.answer);
        if (seen.has(read)) continue;
        seen.add(read);
        await show(screen, { ...start, [key]: variant.answer });
        variantsShown += 1;
        for (const problem of problemsOnScreen(said)) found.push(`${key}, ${variant.name}: ${problem}`);
      }
    }
    expect(found).toEqual([]);
  },
  300_000,
);

/** Read after a click only; its order is shown from the recorded answer about orders. */
const BEHIND_A_CLICK = new Set(['POST /api/position-maker/submit-order']);
const VARIANTS_AT_LEAST = 500;

test('uses every recorded answer', () => {
  const left = Object.keys(RECORDED)
    .map(routeOf)
    .filter((route) => !taken.has(route) && !BEHIND_A_CLICK.has(route));
  expect(left).toEqual([]);
  expect(variantsShown).toBeGreaterThan(VARIANTS_AT_LEAST);
});
