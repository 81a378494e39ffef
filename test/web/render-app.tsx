import { configure, fireEvent, render, waitFor, within } from '@testing-library/react';
import { type UserEvent, userEvent } from '@testing-library/user-event';
import { expect, onTestFinished, vi } from 'vitest';
import { PAGES } from '#contract/pages.ts';
import { Providers } from '#web/app/providers.tsx';
import recording from '#web/app/recorded-answers.json' with { type: 'json' };
import { SessionGate } from '#web/app/session-gate.tsx';
import { toasts } from '#web/ui/toast.ts';
import './element-stacks.ts';
import { AllInView, Silent } from './observers.ts';

/** The ids of the records in the recorded answers. */
export const { ids } = recording;
/** Recorded answers of a real server, with the list of pages restored that the recording cuts off. */
export const recorded = {
  ...recording.answers,
  // Otherwise every screen would show its banner.
  'GET /api/positions/close-all': [],
  'GET /api/navigation/pages': { pages: PAGES.filter((page) => !('navigation' in page)) },
};

/** A call of the app as the server would receive it. */
export interface Call {
  /** For example `GET /api/signals`. */
  key: string;
  query: Readonly<Record<string, string>>;
  body: unknown;
  headers?: Headers;
}

/** An answer that is not 200. */
export class Failure {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    this.status = status;
    this.body = body;
  }
}

export const failure = (status: number, message: string): Failure => new Failure(status, { message });
/** The server cannot be reached. */
export const UNREACHABLE = Symbol('unreachable');
/** A call that is never answered. */
export const PENDING = new Promise<never>(() => {});

/** By method and path: a body, a failure, a promise of either, or a function that returns one of them. */
export type Answers = Record<string, unknown>;

export interface App {
  user: UserEvent;
  /** May be changed while the app runs. */
  answers: Answers;
  calls: Call[];
  /** The calls of a method and path. */
  sent: (key: string) => Call[];
  /** Path and query of the current URL. */
  address: () => string;
  /** Restarts the app at its current URL. */
  reload: () => void;
}

interface BrowserOptions {
  widthPx?: number;
  /** The signed-in user. */
  user?: Record<string, unknown>;
}

// --- What jsdom lacks --------------------------------------------------------------------------------------------

/** Files that the app has saved as downloads. */
export const savedFiles: { name: string; blob: Blob }[] = [];
/** Messages of the browser's alerts. */
export const alerts: string[] = [];
let problems: string[] = [];
let widthPx = 0;
let addressedBlob: Blob | null = null;

const canvas: unknown = new Proxy(() => {}, {
  get: (_target, name) =>
    name === Symbol.toPrimitive ? () => 0 : name === 'canvas' ? document.createElement('canvas') : canvas,
  set: () => true,
  apply: () => canvas,
});

const matches = (media: string): boolean => {
  if (media.includes('prefers-reduced-motion')) return true;
  const limit = /\((min|max)-width: ([\d.]+)(px|em|rem)\)/.exec(media);
  if (!limit) return false;
  const limitPx = Number(limit[2]) * (limit[3] === 'px' ? 1 : 16);
  return limit[1] === 'min' ? widthPx >= limitPx : widthPx <= limitPx;
};

const report = (...parts: unknown[]) => void problems.push(parts.map(String).join(' '));

// Queries by role search parts of the screen in which nothing is hidden.
configure({
  defaultHidden: true,
  asyncUtilTimeout: 30_000,
  // Without a dump of the document.
  getElementError: (message) => new Error(message ?? 'not found'),
});

/** Test files of one worker share this module, but each file has its own window. */
const watchedWindows = new WeakSet<Window>();

function prepareWindow(): void {
  vi.stubGlobal('EventSource', Silent);
  vi.stubGlobal('ResizeObserver', Silent);
  vi.stubGlobal('IntersectionObserver', AllInView);
  vi.stubGlobal('matchMedia', (media: string) =>
    Object.assign(new Silent(), { media, matches: matches(media) }),
  );
  vi.stubGlobal('scrollTo', () => {});
  vi.stubGlobal('alert', (text: string) => void alerts.push(text));
  Element.prototype.scrollIntoView = () => {};
  HTMLCanvasElement.prototype.getContext = () => canvas as never;
  URL.createObjectURL = (blob) => {
    addressedBlob = blob as Blob;
    return 'blob:file';
  };
  URL.revokeObjectURL = () => {};
  HTMLAnchorElement.prototype.click = function click() {
    if (addressedBlob) savedFiles.push({ name: this.download, blob: addressedBlob });
  };
  if (watchedWindows.has(window)) return;
  watchedWindows.add(window);
  window.addEventListener('error', ({ error, message }) => report(error ?? message));
  window.addEventListener('unhandledrejection', ({ reason }) => report(reason));
}

/** A clipboard of its own for each app: one that an earlier test made refuse must not reach the next. */
function provideClipboard(): void {
  let content = '';
  const clipboard = {
    writeText: async (text: string) => {
      content = text;
    },
    readText: async () => content,
  };
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: clipboard });
}

function leave(): void {
  unmount();
  unmount = () => {};
  document.body.replaceChildren();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  const reported = problems.splice(0);
  // In the message, because the difference of two arrays is cut off in the output.
  expect(reported, `errors in the browser:\n${reported.join('\n')}`).toEqual([]);
}

// --- The app -----------------------------------------------------------------------------------------------------

let unmount = () => {};

function show(): void {
  unmount();
  const shown = toasts.shown();
  if (shown) toasts.remove(shown.id);
  const app = render(
    <Providers>
      <SessionGate />
    </Providers>,
  );
  unmount = app.unmount;
}

/** Renders the whole app at a path. Calls get the recorded answers unless the test passes others. */
export function renderApp(path: string, answers: Answers = {}, browser: BrowserOptions = {}): App {
  widthPx = browser.widthPx ?? 1440;
  problems = [];
  // A late call of an earlier test must not be counted in a later one.
  const here = problems;
  const reportHere = (text: string) => void here.push(text);
  savedFiles.length = 0;
  addressedBlob = null;
  alerts.length = 0;
  localStorage.clear();
  sessionStorage.clear();
  prepareWindow();
  vi.spyOn(console, 'error').mockImplementation(report);
  onTestFinished(leave);
  const session = recorded['GET /api/auth/user'];
  const own: Answers = { ...answers };
  if (browser.user) own['GET /api/auth/user'] ??= { ...session, user: { ...session.user, ...browser.user } };
  const calls: Call[] = [];
  vi.stubGlobal('fetch', (input: RequestInfo | URL, init: RequestInit = {}) => {
    const { pathname, searchParams } = new URL(String(input), location.origin);
    const key = `${init.method ?? 'GET'} ${pathname}`;
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    const headers = new Headers(init.headers);
    const call: Call = { key, query: Object.fromEntries(searchParams), body, headers };
    calls.push(call);
    return answerTo(call, own, { signal: init.signal, onUnanswered: reportHere });
  });
  history.replaceState(null, '', path);
  show();
  const user = userEvent.setup({ delay: null, pointerEventsCheck: 0 });
  provideClipboard();
  return {
    user,
    answers: own,
    calls,
    sent: (key) => calls.filter((call) => call.key === key),
    address: () => location.pathname + location.search,
    reload: show,
  };
}

async function answerTo(
  call: Call,
  own: Answers,
  { signal, onUnanswered }: { signal: AbortSignal | null | undefined; onUnanswered: (text: string) => void },
): Promise<Response> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
  });
  const given = call.key in own ? own[call.key] : (recorded as Answers)[call.key];
  const answer = await Promise.race([typeof given === 'function' ? given(call) : given, aborted]);
  if (answer === UNREACHABLE) throw new TypeError('Failed to fetch');
  if (answer instanceof Failure) return json(answer.status, answer.body);
  if (answer === undefined) onUnanswered(`nothing answers ${call.key}`);
  return json(answer === undefined ? 404 : 200, answer ?? { message: 'Not found' });
}

const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

/** An answer that arrives when the test calls `release`. */
export function held(answer: unknown): { promise: Promise<unknown>; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  return { promise, release: () => resolve(answer) };
}

// --- Parts of the screen -----------------------------------------------------------------------------------------

export type Scope = ReturnType<typeof scopeOf>;

/** The first record of a recorded list. */
export const first = <Row,>(rows: readonly Row[]): Row => rows[0] ?? fail('nothing was recorded');

/** Queries inside an element. */
export const scopeOf = (element: HTMLElement) => ({ element, ...within(element) });

/** Queries of the whole document. */
export const page = () => scopeOf(document.body);

export const main = async (): Promise<Scope> => scopeOf(await page().findByRole('main'));

export const dialog = async (name: string | RegExp): Promise<Scope> =>
  scopeOf(await page().findByRole('dialog', { name }));

export const findTitle = (name: string | RegExp) => page().findByRole('heading', { level: 1, name });

/** The alert on the screen with this text, not a toast. */
export async function alertOf(text: string | RegExp): Promise<Scope> {
  const isIt = (alert: HTMLElement) =>
    alert.closest('[data-toasts]') === null &&
    (typeof text === 'string' ? alert.textContent?.includes(text) : text.test(alert.textContent ?? ''));
  return await waitFor(() =>
    scopeOf(page().queryAllByRole('alert').find(isIt) ?? fail(`no alert says ${String(text)}`)),
  );
}

/** The rows of a table's body, without skeletons. */
export const rowsOf = (table: string): HTMLElement[] =>
  [...(page().queryByRole('table', { name: table })?.querySelectorAll('tbody tr') ?? [])].filter(
    (row): row is HTMLElement => row instanceof HTMLElement && !row.hasAttribute('aria-hidden'),
  );

export const rowOf = (table: string, text: string): Promise<Scope> =>
  waitFor(() =>
    scopeOf(rowsOf(table).find((row) => row.textContent?.includes(text)) ?? fail(`no row ${text}`)),
  );

function fail(message: string): never {
  throw new Error(message);
}

export async function expectToast(title: string, text: string | RegExp = ''): Promise<void> {
  await waitFor(() => {
    const shown = [...document.querySelectorAll('.mantine-Notification-root')];
    expect(shown.map((one) => one.querySelector('.mantine-Notification-title')?.textContent)).toEqual([
      title,
    ]);
    expect(shown[0]?.textContent).toMatch(text);
  });
}

/** Waits until `find` returns null. */
export const expectGone = (find: () => unknown): Promise<void> => waitFor(() => expect(find()).toBeNull());

export const eventually = waitFor;

/** The description that assistive technology reads with a field. */
export const descriptionOf = (field: HTMLElement): string =>
  (field.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map((id) => document.getElementById(id)?.textContent ?? '')
    .join(' ')
    .trim();

/** Replaces a field's value in one step, because typing is slow in jsdom. */
export function fill(field: HTMLElement, text: string): void {
  field.focus();
  fireEvent.change(field, { target: { value: text } });
}

/** The text of the selected option. */
export const chosen = (select: HTMLElement): string =>
  (select as HTMLSelectElement).selectedOptions[0]?.textContent ?? '';

export const textIn = (field: HTMLElement): string => (field as HTMLInputElement).value;
export const isDisabled = (element: HTMLElement): boolean => (element as HTMLButtonElement).disabled;
export const isChecked = (element: HTMLElement): boolean => (element as HTMLInputElement).checked;
