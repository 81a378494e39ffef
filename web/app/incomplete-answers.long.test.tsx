// @vitest-environment jsdom
import { createRoot, type Root } from 'react-dom/client';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import '#test/web/element-stacks.ts';
import { AllInView, Silent } from '#test/web/observers.ts';
import answerShapes from '../lib/answer-shapes.json' with { type: 'json' };
import { completeAnswer, type Shape } from '../lib/complete-answer.ts';
import { toasts } from '../ui/toast.ts';
import { Providers } from './providers.tsx';
import recording from './recorded-answers.json' with { type: 'json' };
import { SessionGate } from './session-gate.tsx';

/*
 * Renders the whole app with answers recorded from a real server (server/recorded-answers.test.ts), first complete,
 * then with each field missing or null. List rows are repeated, each without a different field, so that one render
 * covers them all.
 */

const { ids } = recording;
const RECORDED: Readonly<Record<string, unknown>> = recording.answers;

interface Screen {
  path: string;
  /** Requests the screen must send, as proof that it was rendered. */
  reads: readonly string[];
  /** Runs before the screen is checked. */
  act?: () => Promise<void>;
  /** Answers to vary again although another screen covered them, because this screen has its own code for them. */
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
  screen(
    '/settings',
    'GET /api/user-settings',
    'GET /api/user-settings/exchange-credentials',
    'GET /api/auth/factors',
    'GET /api/auth/sessions',
    'GET /api/tokens',
  ),
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
    // While the order runs.
    ...screen(`${calculator}&calculation=${ids.calculation}&dialog=order`, ORDERS),
    answers: { [ORDERS]: { order: { ...orderOf(recording.answers), done: false } } },
  },
  screen('/position-maker', 'GET /api/position-maker/status', 'GET /api/position-maker/logs'),
  screen('/positions', 'GET /api/positions', 'GET /api/admin/trading-halts'),
  screen(
    '/performance?range=all',
    'GET /api/performance',
    'GET /api/performance/calendar',
    'GET /api/performance/trades',
  ),
  screen('/strategies', 'GET /api/strategies'),
  {
    ...screen('/', 'GET /api/my-overview'),
    answers: { 'GET /api/auth/user': OF_ORDINARY_USER },
  },
  screen('/audit', 'GET /api/audit'),
  screen('/alerts', 'GET /api/notification-channels', 'GET /api/notifications'),
  screen('/feeds', 'GET /api/feeds'),
];

type Fields = Record<string, unknown>;
type Answers = Record<string, unknown>;
/** Field names and row indexes leading to a field. */
type Path = readonly (string | number)[];

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isRows = (value: unknown): value is Fields[] =>
  Array.isArray(value) && value.length > 0 && value.every(isFields);

// --- The page -------------------------------------------------------------------------------------------------

/** Overrides of the recorded answers. */
let changed: Answers = {};
/** Requests the screen has sent. */
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

/** Stubs what jsdom lacks: sizes, a canvas and the event stream. None of them affects an answer. */
beforeAll(() => {
  vi.stubGlobal('fetch', answer);
  vi.stubGlobal('EventSource', Silent);
  vi.stubGlobal('ResizeObserver', Silent);
  vi.stubGlobal('IntersectionObserver', AllInView);
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

/** Waits until the page is rendered, no request is pending and the DOM has stopped changing. */
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
 * Texts that are true for an empty list or a zero figure, but wrong for a missing one. The exceptions are texts that
 * mean null, where a missing field may read the same, and the one that refuses an order without its data.
 */
const UNTRUE_TEXT =
  /^(No (?!parameters available|matching price log|stop$|reason was given|order data prepared).*|-?\$?0(\.0+)?[%x]?)$/;

/** All texts on the screen, except raw JSON blocks. */
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

/** Texts that must never appear, and empty-state texts that the screen does not show with complete answers. */
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

/** The paths of all fields; for a list, those of its first row. */
function pathsIn(value: unknown, before: Path = []): Path[] {
  if (isRows(value)) return pathsIn(value[0], [...before, 0]);
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const path = [...before, name];
    // Data from the charting platform, an exchange or the audit trail has no guaranteed fields.
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
  'before',
  'after',
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

/** Two variants (missing, null) per field outside lists, and one for all row fields of a list together. */
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

/** Replaces the list with copies of its first row: one complete, then one per missing field. */
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
  // A null row.
  (list as unknown[]).push(null);
  return copy;
}

// --- Lists recorded empty get a row built from their shape -------------------------------------------------------

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

/** Routes whose answers have been varied on some screen, and the number of variants rendered. */
let variantsShown = 0;
const taken = new Set<string>();
/** The route without record ids: one order stands for all orders. */
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
  '$path renders whichever field of an answer is missing',
  async (screen) => {
    const start: Answers = { ...START, ...screen.answers };
    const wholeOf = (key: string) => start[key] ?? RECORDED[key.replace(/^PUT/, 'GET')];
    // The first render loads the screen's code.
    await vi.waitFor(
      async () => {
        await show(screen, start);
        expect([...asked]).toEqual(expect.arrayContaining([...screen.reads]));
      },
      { timeout: 20_000, interval: 50 },
    );
    // Repeat until two renders agree, so that the baseline includes parts whose code loads later.
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
        // Most fields look the same to a screen whether they are null or missing.
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

/** Sent only after a click; its order is covered by the recorded answer about orders. */
const BEHIND_A_CLICK = new Set([
  'POST /api/position-maker/submit-order',
  'GET /api/risk-limits',
  'GET /api/positions/closed',
  'GET /api/positions/protection',
  'GET /api/risk-limits/strategies/Tesla',
  'GET /api/signals/{id}/execution',
  'GET /api/users/{id}/decisions',
]);
const VARIANTS_AT_LEAST = 500;

test('uses every recorded answer', () => {
  const left = Object.keys(RECORDED)
    .map(routeOf)
    .filter((route) => !taken.has(route) && !BEHIND_A_CLICK.has(route));
  expect(left).toEqual([]);
  expect(variantsShown).toBeGreaterThan(VARIANTS_AT_LEAST);
});
