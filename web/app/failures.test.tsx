// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { oneOfEachKind } from '#test/app/in-turn.ts';
import {
  alertOf,
  eventually,
  expectGone,
  expectToast,
  failure,
  fill,
  findTitle,
  isDisabled,
  page,
  recorded,
  renderApp,
  scopeOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const retry = async (title: string) => (await alertOf(title)).getByRole('button', { name: 'Try again' });
const alertsWith = (title: string) =>
  page()
    .queryAllByRole('alert')
    .filter((alert) => alert.textContent?.includes(title));

const LISTS = [
  { path: '/signals', call: 'GET /api/signals', title: 'Failed to fetch signals', table: 'Signal History' },
  {
    path: '/price-logs',
    call: 'GET /api/price-logs',
    title: 'Failed to fetch price logs',
    table: 'Price Logs',
  },
  { path: '/create-client', call: 'GET /api/admin/users', title: 'Failed to fetch users', table: 'Users' },
  {
    path: '/automation-workflows',
    call: 'GET /api/automation-workflows',
    title: 'Failed to Fetch Workflows',
    table: 'Workflow Runs',
  },
] as const;

const listsInShort = ['/signals', '/create-client'];
describe.for(oneOfEachKind(LISTS, ({ path }) => listsInShort.includes(path)))(
  'the list of $path',
  ({ path, call, title, table }) => {
    // Requirements: accounts-messages-4, accounts-messages-20, trading-messages-3
    test('reports a failed fetch and recovers on the next try', async () => {
      const app = renderApp(path, { [call]: UNREACHABLE });
      expect((await alertOf(title)).element.textContent).toContain('The server cannot be reached');
      app.answers[call] = recorded[call];
      await app.user.click(await retry(title));
      await page().findByRole('table', { name: table });
      await eventually(() => expect(alertsWith(title)).toEqual([]));
    });

    // Requirements: accounts-messages-20
    test('shows no last page in the pager when page 3 cannot be fetched', async () => {
      const app = renderApp(`${path}?page=3`, { [call]: UNREACHABLE });
      await alertOf(title);
      const pager = scopeOf(page().getByRole('navigation', { name: 'Pagination' }));
      expect(pager.element.textContent).toContain('Page 3');
      expect(pager.element.textContent).not.toMatch(/ of \d|entries/);
      expect(isDisabled(pager.getByRole('button', { name: 'Next' }))).toBe(true);
      await app.user.click(pager.getByRole('button', { name: 'Previous' }));
      await eventually(() => expect(app.address()).toBe(`${path}?page=2`));
      await page().findByText(/^Page 2/);
    });
  },
);

const CHOICES = {
  tokens: 'Failed to fetch tokens',
  processors: 'Failed to fetch processors',
  timeframes: 'Failed to fetch timeframes',
};

describe.for([
  {
    path: '/signals',
    api: 'GET /api/signals',
    titles: { stats: 'Failed to fetch stats', ...CHOICES },
    table: 'Signal History',
  },
  { path: '/price-logs', api: 'GET /api/price-logs', titles: CHOICES, table: 'Price Logs' },
  {
    path: '/automation-workflows',
    api: 'GET /api/automation-workflows',
    titles: { processors: 'Failed to fetch processors', statuses: 'Failed to fetch statuses' },
    table: 'Workflow Runs',
  },
])('the parts of $path', ({ path, api, titles, table }) => {
  const parts = Object.entries(titles);

  // Requirements: accounts-messages-20, price-logs-3, trading-messages-3
  test('fail independently, each with its own retry', async () => {
    const app = renderApp(path, Object.fromEntries(parts.map(([part]) => [`${api}/${part}`, UNREACHABLE])));
    await page().findByRole('table', { name: table });
    for (const [, title] of parts) await alertOf(title);
    for (const [part, title] of parts) {
      delete app.answers[`${api}/${part}`];
      await app.user.click(await retry(title));
      await eventually(() => expect(alertsWith(title)).toEqual([]));
    }
  });
});

// Requirements: accounts-messages-2, trading-messages-2, trading-messages-5
test('shows an error answer with its status', async () => {
  const call = 'GET /api/automation-workflows';
  const app = renderApp('/automation-workflows', { [call]: failure(500, 'Internal server error') });
  await expectToast('Failed to Fetch Workflows', 'Internal server error');
  const failed = await alertOf('500: {"message":"Internal server error"}');
  app.answers[call] = recorded[call];
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await page().findByRole('table', { name: 'Workflow Runs' });
});

// Requirements: price-logs-3
test('keeps the loaded data when a refresh fails', async () => {
  const call = 'GET /api/price-logs';
  const app = renderApp('/price-logs');
  const refresh = await page().findByRole('button', { name: 'Refresh' });
  await page().findByRole('cell', { name: /^BTC/ });
  app.answers[call] = UNREACHABLE;
  await app.user.click(refresh);
  await alertOf('Failed to fetch price logs');
  page().getByRole('cell', { name: /^BTC/ });
  app.answers[call] = recorded[call];
  await app.user.click(refresh);
  await eventually(() => expect(alertsWith('Failed to fetch price logs')).toEqual([]));
});

describe('the session', () => {
  const SESSION = 'GET /api/auth/user';

  // Requirements: screens-session-states-3
  test('shows an error, not the sign-in screen, when the look-up fails', async () => {
    const app = renderApp('/', { [SESSION]: UNREACHABLE });
    await findTitle('Signal Board cannot be reached');
    delete app.answers[SESSION];
    await app.user.click(page().getByRole('button', { name: 'Try again' }));
    await findTitle(/^Welcome, /);
  });

  for (const answer of [{}, { user: null }, null]) {
    // Requirements: accounts-calls-3
    test(`leads to the sign-in screen when the answer is 200 with ${JSON.stringify(answer)}`, async () => {
      renderApp('/settings', { [SESSION]: answer });
      await findTitle('Welcome Back');
    });
  }

  // Requirements: screens-sign-in-1, screens-sign-in-2, accounts-validation-2, accounts-messages-5
  test('starts on the sign-in screen, which describes the product and names missing fields', async () => {
    const LOGIN = 'POST /api/auth/login';
    const app = renderApp('/', { [SESSION]: failure(401, 'Not signed in'), [LOGIN]: UNREACHABLE });
    await findTitle('Welcome Back');
    const about = page().getByRole('region', { name: 'About Signal Board' });
    for (const text of [
      'Smart trading solutions',
      'signals',
      'Position calculator',
      'Risk management',
      'Profit optimization',
    ]) {
      expect(about.textContent).toContain(text);
    }
    const signIn = page().getByRole('button', { name: 'Sign in' });
    await app.user.click(signIn);
    page().getByText('Username is required');
    page().getByText('Password is required');
    fill(page().getByLabelText(/^Username/), 'ann@example.com');
    expect(page().queryByText('Username is required')).toBeNull();
    page().getByText('Password is required');

    fill(page().getByLabelText(/^Password/), 'first password');
    await app.user.click(signIn);
    await alertOf('Login failed. Please try again.');
    app.answers[LOGIN] = failure(401, 'Invalid username or password');
    await app.user.click(signIn);
    await alertOf('Invalid username or password');
    app.answers[LOGIN] = recorded[SESSION];
    delete app.answers[SESSION];
    await app.user.click(signIn);
    await findTitle(/^Welcome, /);
    await expectGone(() => page().queryByText('Welcome Back'));
  });
});
