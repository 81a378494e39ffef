// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { PAGES } from '#contract/pages.ts';
import { firstCases } from '#test/app/in-turn.ts';
import {
  alertOf,
  dialog,
  eventually,
  expectGone,
  failure,
  findTitle,
  ids,
  page,
  recorded,
  renderApp,
  scopeOf,
} from '#test/web/render-app.tsx';

const ATTENTION = 'GET /api/attention';
const NAVIGATION = 'GET /api/navigation/pages';
const STATUS = 'GET /api/environment/status';
const { username } = recorded['GET /api/auth/user'].user;
const ORDINARY = { user: { isAdmin: false } };
const own = {
  [NAVIGATION]: { pages: PAGES.filter(({ adminOnly, active }) => !adminOnly && active) },
  'GET /api/hooks': [],
};
const main = async () => scopeOf(await page().findByRole('main'));

describe('for an ordinary user', () => {
  // Requirements: screens-session-states-4, screens-header-3, screens-routes-1
  // Requirements: screens-dashboard-and-admin-dashboard-1, screens-dashboard-and-admin-dashboard-2
  // Requirements: screens-dashboard-and-admin-dashboard-3, accounts-roles-2
  test('shows the dashboard, their settings and their webhook', async () => {
    const app = renderApp('/', own, ORDINARY);
    await findTitle(`Welcome, ${username}`);
    const header = scopeOf(page().getByRole('banner'));
    await header.findByRole('link', { name: 'Dashboard' });
    const links = scopeOf(header.getByRole('navigation', { name: 'Main' })).getAllByRole('link');
    expect(links.map((link) => link.textContent)).toEqual(['Dashboard', 'Webhook', 'Alerts']);
    expect(header.queryByRole('link', { name: 'Admin' })).toBeNull();
    expect(header.queryByRole('button', { name: /Live Trading|PROD|Dev Mode|UNKNOWN|Loading/ })).toBeNull();
    expect(page().queryByRole('link', { name: 'Admin Dashboard' })).toBeNull();
    for (const text of ['Online', 'Active', 'User']) page().getByText(text);
    expect(page().queryByRole('heading', { name: 'Needs attention' })).toBeNull();
    expect(app.sent(ATTENTION)).toEqual([]);
    await app.user.click(page().getByRole('link', { name: /^User Settings/ }));
    await page().findByText('Trading settings');
    await app.user.click(header.getByRole('link', { name: 'Webhook' }));
    await page().findByText('No Webhook Configured');
  });

  // Requirements: screens-routes-3, screens-routes-4, accounts-roles-3, accounts-messages-17
  // Requirements: trading-roles-1
  test('shows the not-found page on every administrator path', async () => {
    const paths = PAGES.filter(({ adminOnly }) => adminOnly).map(({ path }) => path);
    for (const path of [...paths, '/no-such-page']) {
      const app = renderApp(path, own, ORDINARY);
      await findTitle('Page Not Found');
      if (path !== '/no-such-page') continue;
      await app.user.click(page().getByRole('link', { name: 'Back to Dashboard' }));
      await findTitle(/^Welcome, /);
    }
  });

  // Requirements: screens-routes-2, screens-dashboard-and-admin-dashboard-4, sign-in-and-sessions-18
  test('opens the admin dashboard without cards', async () => {
    renderApp('/admin', own, ORDINARY);
    await findTitle('Admin Dashboard');
    for (const text of ['System Overview', 'Active', 'Real-time', 'Secure']) page().getByText(text);
    expect((await main()).getAllByRole('link').map((link) => link.textContent)).toEqual(['Back to Main']);
  });

  // Requirements: screens-user-settings-2, users-4
  test("keeps another user's settings and the automation closed", async () => {
    for (const path of ['/settings', `/settings?userId=${ids.user}`]) {
      const app = renderApp(path, own, ORDINARY);
      await findTitle('User Settings');
      await page().findByRole('heading', { name: 'Exchange Connection' });
      expect((await main()).element.textContent).toContain(username);
      expect(app.calls.filter(({ key }) => key.includes('/admin/'))).toEqual([]);
      for (const name of ['Automation', 'Account status'])
        expect(page().queryByRole('heading', { name })).toBeNull();
      for (const name of ['Automation settings', 'Back to Users']) {
        expect(page().queryByRole('link', { name })).toBeNull();
      }
    }
  });
});

// Requirements: screens-header-9, screens-routes-6
test('shows a card for each active administrator page on the admin dashboard, and no others', async () => {
  renderApp('/admin');
  await findTitle('Admin Dashboard');
  const links = (await main()).getAllByRole('link').map((link) => link.textContent);
  const shown = links.filter((text) => text !== 'Back to Main');
  const active = PAGES.filter(({ adminOnly, active: isActive }) => adminOnly && isActive);
  const missing = active.filter(({ displayName }) => !shown.includes(displayName));
  expect(shown).toEqual(active.filter((one) => !missing.includes(one)).map(({ displayName }) => displayName));
  // Only pages without a screen have no card.
  for (const { path } of missing) {
    renderApp(path);
    await findTitle('Page Not Found');
  }
});

describe('what needs attention', () => {
  const CONDITIONS = [
    {
      code: 'first',
      severity: 'critical',
      since: '2026-03-04T05:06:07.000Z',
      text: 'The position of ann@example.com in BTCUSDT has had no stop loss for three minutes.',
      link: '/positions?exchange=Bitget',
      action: 'Show positions',
    },
    { code: 'second', severity: 'critical', since: null, text: 'A second one.', link: null, action: null },
    {
      code: 'third',
      severity: 'info',
      since: null,
      text: 'Nothing urgent.',
      link: '/create-client',
      action: null,
    },
  ];
  const entries = async () =>
    scopeOf(
      (await page().findByRole('heading', { name: 'Needs attention' })).closest('section') ?? document.body,
    ).findAllByRole('listitem');

  test('is listed with severity, start and button', async () => {
    const app = renderApp('/', { [ATTENTION]: { conditions: CONDITIONS } });
    const [first, second, third] = await entries();
    for (const text of ['Critical', 'since 2026/03/03 21:06:07']) expect(first?.textContent).toContain(text);
    expect(second?.textContent).not.toContain('since');
    expect(second?.querySelector('a')).toBeNull();
    expect(third?.textContent).toContain('Info');
    scopeOf(third ?? document.body).getByRole('link', { name: 'Open' });
    await app.user.click(page().getByRole('link', { name: 'Show positions' }));
    await findTitle('Positions');
    expect(app.address()).toBe('/positions?exchange=Bitget');
  });

  test('shows an error when it cannot be read', async () => {
    const app = renderApp('/', { [ATTENTION]: failure(500, 'Internal server error') });
    const failed = await alertOf('Failed to fetch what needs attention');
    app.answers[ATTENTION] = { conditions: [] };
    await app.user.click(failed.getByRole('button', { name: 'Try again' }));
    await expectGone(() => page().queryByRole('heading', { name: 'Needs attention' }));
  });

  const counts = [
    [3, '2 critical conditions'],
    [1, '1 critical condition'],
    [0, null],
  ] as const;
  test.for(firstCases(counts))(
    'is counted in the environment banner (%i conditions)',
    async ([count, text]) => {
      const status = {
        ...recorded[STATUS],
        environment: 'production',
        isProduction: true,
        autoTradeEnabled: true,
      };
      const app = renderApp('/', {
        [ATTENTION]: { conditions: CONDITIONS.slice(0, count) },
        [STATUS]: status,
      });
      await findTitle(/^Welcome, /);
      await app.user.click(await page().findByRole('button', { name: 'Live Trading' }));
      const details = await dialog('System Environment Details');
      const banner = (await details.findAllByRole('alert'))[0];
      expect(banner?.textContent).toContain('Live Trading Active');
      await eventually(() => {
        if (text === null) expect(banner?.textContent).not.toContain('critical');
        else expect(banner?.textContent).toMatch(new RegExp(`${text}(?!s)`));
      });
    },
  );
});
