// @vitest-environment jsdom

import { describe, expect, test } from 'vitest';
import { PAGES } from '#contract/pages.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import {
  alertOf,
  dialog,
  eventually,
  expectGone,
  expectToast,
  failure,
  findTitle,
  held,
  isDisabled,
  PENDING,
  page,
  recorded,
  renderApp,
  scopeOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const SESSION = 'GET /api/auth/user';
const LOGOUT = 'POST /api/auth/logout';
const NAVIGATION = 'GET /api/navigation/pages';
const STATUS = 'GET /api/environment/status';
const USERS = 'GET /api/admin/users';
const { username } = recorded[SESSION].user;
const status = recorded[STATUS];

const header = async () => scopeOf(await page().findByRole('banner'));
const openUserMenu = async (app: ReturnType<typeof renderApp>) =>
  await app.user.click(await (await header()).findByRole('button', { name: username }));

const mainLinks = async () =>
  scopeOf((await header()).getByRole('navigation', { name: 'Main' })).getAllByRole('link');

describe('the header', () => {
  // Requirements: screens-header-1, screens-header-2, screens-header-4, accounts-fields-10
  test("shows the logo, the server's pages without Settings, and the user menu", async () => {
    const app = renderApp('/admin');
    const { findByRole, getByRole } = await header();
    await findByRole('link', { name: 'Dashboard' });
    const links = await mainLinks();
    const names = PAGES.filter(({ active }) => active).map(({ displayName }) => displayName);
    const shown = links.map((link) => link.textContent);
    expect(shown[0]).toBe('Dashboard');
    expect(shown).not.toContain('Settings');
    expect(names.filter((name) => shown.includes(name))).toEqual(shown);
    expect(links.filter((link) => link.querySelector('svg.tabler-icon-home'))).toEqual([links[0]]);

    await openUserMenu(app);
    const items = await page().findAllByRole('menuitem');
    expect(items.map((item) => item.textContent)).toEqual(['Settings', 'Sign Out']);
    await app.user.click(page().getByRole('menuitem', { name: 'Settings' }));
    await eventually(() => expect(app.address()).toBe('/settings'));
    await expectGone(() => page().queryByRole('menu'));
    await app.user.click(getByRole('link', { name: 'Admin' }));
    await eventually(() => expect(app.address()).toBe('/admin'));
    await app.user.click(getByRole('link', { name: 'Signal Board' }));
    await eventually(() => expect(app.address()).toBe('/'));
  });

  // Requirements: screens-header-11
  test("draws the groups of the server's list, and marks the page that is open", async () => {
    const pages = PAGES.filter(({ audience }) => audience !== 'ordinary users');
    const app = renderApp('/position-maker', { [NAVIGATION]: { pages } });
    const { findByRole, getAllByRole, queryByText } = await header();
    await findByRole('link', { name: 'Dashboard' });
    const groups = getAllByRole('list').map((list) => [
      list.getAttribute('aria-label'),
      scopeOf(list)
        .getAllByRole('link')
        .map((link) => link.textContent),
    ]);
    expect(groups).toEqual([
      // A page alone in its group has no label.
      [null, ['Dashboard']],
      ['Trade', ['Signals', 'Positions', 'Position Calculator']],
      [null, ['Performance']],
      ['Manage', ['Strategies', 'Users', 'Configuration', 'Alerts']],
      ['System', ['Workflows', 'Position Maker', 'Price Logs', 'Audit']],
    ]);
    expect(queryByText('Overview')).toBeNull();
    const current = async () =>
      (await mainLinks()).filter((link) => link.getAttribute('aria-current') === 'page');
    expect((await current()).map((link) => link.textContent)).toEqual(['Position Maker']);
    await app.user.click((await header()).getByRole('link', { name: 'Audit' }));
    await eventually(async () =>
      expect((await current()).map((link) => link.textContent)).toEqual(['Audit']),
    );
  });

  // Requirements: screens-header-9
  test('shows pages of a newer server that it has a screen for, whatever their icon and group', async () => {
    const [first] = recorded[NAVIGATION].pages;
    renderApp('/', {
      [NAVIGATION]: {
        pages: [
          { ...first, icon: 'New', group: 'New' },
          { pageName: 'Settings', path: '/webhook', displayName: 'Settings', icon: 'Home', group: 'New' },
          { pageName: 'next', path: '/next', displayName: 'Next', icon: 'Next', group: 'New' },
          { pageName: 'audit', path: '/audit', displayName: 'Trail', icon: 'Next', group: 'New' },
        ],
      },
    });
    await (await header()).findByRole('link', { name: 'Trail' });
    expect((await mainLinks()).map((link) => link.getAttribute('href'))).toEqual(['/', '/audit']);
  });

  // Requirements: screens-header-7
  test('More has the pages that are not tabs, the search, Admin, and the foot of the sidebar', async () => {
    const app = renderApp('/signals');
    await (await header()).findByRole('link', { name: 'Dashboard' });
    const tabs = (await mainLinks()).filter((link) => link.closest('li')?.hasAttribute('data-tab'));
    expect(tabs.map((link) => link.textContent)).toEqual([
      'Dashboard',
      'Signals',
      'Positions',
      'Performance',
    ]);
    const openMore = async () => {
      await app.user.click((await header()).getByRole('button', { name: 'More' }));
      return await dialog('More');
    };
    const more = await openMore();
    const pages = scopeOf(more.getByRole('navigation', { name: 'More pages' })).getAllByRole('link');
    expect([...tabs, ...pages].map((link) => link.textContent).toSorted()).toEqual(
      (await mainLinks()).map((link) => link.textContent).toSorted(),
    );
    expect(more.element.textContent).toContain('America/Los_Angeles');
    more.getByRole('button', { name: 'Display' });
    await app.user.click(more.getByRole('link', { name: 'Admin' }));
    await eventually(() => expect(app.address()).toBe('/admin'));
    await expectGone(() => page().queryByRole('dialog'));
    await app.user.click((await openMore()).getByRole('button', { name: 'Search and go to' }));
    await dialog('Search and go to');
    await expectGone(() => page().queryByRole('dialog', { name: 'More' }));
  });

  // Requirements: screens-header-12
  test('names the time zone once, beside what is remembered: the rail and dense rows', async () => {
    const app = renderApp('/audit');
    const { findByRole, getByRole, getAllByText } = await header();
    expect(getAllByText('America/Los_Angeles')).toHaveLength(1);
    const frame = () => page().getByRole('banner').parentElement;
    await app.user.click(await findByRole('button', { name: 'Collapse sidebar' }));
    expect(frame()?.hasAttribute('data-rail')).toBe(true);
    await app.user.click(getByRole('button', { name: 'Display' }));
    await app.user.click(await page().findByRole('menuitemcheckbox', { name: 'Dense rows' }));
    expect(frame()?.hasAttribute('data-dense')).toBe(true);
    expect([localStorage.getItem('sidebar-rail'), localStorage.getItem('row-density')]).toEqual([
      'on',
      'dense',
    ]);
    await app.user.click(getByRole('button', { name: 'Expand sidebar' }));
    await app.user.click(getByRole('button', { name: 'Display' }));
    await app.user.click(await page().findByRole('menuitemcheckbox', { name: 'Dense rows', checked: true }));
    expect(frame()?.hasAttribute('data-rail')).toBe(false);
    expect(frame()?.hasAttribute('data-dense')).toBe(false);
  });

  // Requirements: screens-header-10
  test('reports that the navigation cannot be fetched, and shows it on the next try', async () => {
    const app = renderApp('/', { [NAVIGATION]: UNREACHABLE });
    const { findByRole, queryByRole } = await header();
    const retry = 'Failed to fetch pages. Try again';
    const button = await findByRole('button', { name: retry });
    delete app.answers[NAVIGATION];
    await app.user.click(button);
    await findByRole('link', { name: 'Dashboard' });
    expect(queryByRole('button', { name: retry })).toBeNull();
  });

  // Requirements: accounts-messages-17
  test.for(firstCases(['/Signals', '/SETTINGS', '/Admin', '/create-Client']))(
    'finds no page at %s',
    async (path) => {
      renderApp(path);
      await findTitle('Page Not Found');
    },
  );
});

describe('signing out', () => {
  // Requirements: screens-header-5, accounts-messages-18
  test('is disabled while pending and reports a missing answer; its toast replaces another', async () => {
    const app = renderApp('/settings', { [LOGOUT]: UNREACHABLE });
    await app.user.click(await page().findByRole('button', { name: 'Copy user ID' }));
    await expectToast('Copied!');
    await openUserMenu(app);
    const item = await page().findByRole('menuitem', { name: 'Sign Out' });
    await app.user.click(item);
    await expectToast('Error', 'Failed to sign out');
    app.answers[LOGOUT] = failure(500, 'Not now');
    await app.user.click(item);
    await expectToast('Error', 'Not now');
    expect(isDisabled(item)).toBe(false);

    const leaving = held({ message: 'Signed out' });
    app.answers[LOGOUT] = leaving.promise;
    await app.user.click(item);
    await eventually(() => expect(isDisabled(item)).toBe(true));
    app.answers[SESSION] = failure(401, 'Not signed in');
    leaving.release();
    await findTitle('Welcome Back');
  });

  testEveryCase('gives up what is still loading, and loads it again when it fails', async () => {
    const app = renderApp('/create-client', { [LOGOUT]: UNREACHABLE, [USERS]: PENDING });
    await openUserMenu(app);
    await eventually(() => expect(app.sent(USERS)).toHaveLength(1));
    app.answers[USERS] = recorded[USERS];
    await app.user.click(await page().findByRole('menuitem', { name: 'Sign Out' }));
    await expectToast('Error', 'Failed to sign out');
    await page().findByRole('table', { name: 'Users' });
    expect(app.sent(USERS)).toHaveLength(2);
  });

  // Requirements: accounts-states-2
  test("clears the former user's screen even if the session cannot be looked up", async () => {
    const app = renderApp('/create-client', { [LOGOUT]: { message: 'Signed out' } });
    await page().findByRole('table', { name: 'Users' });
    app.answers[SESSION] = UNREACHABLE;
    await openUserMenu(app);
    await app.user.click(await page().findByRole('menuitem', { name: 'Sign Out' }));
    await findTitle('Welcome Back');
    expect(document.body.textContent).not.toContain(username);
  });
});

describe('the environment badge', () => {
  const LOOKS = [
    {
      name: 'production with automatic trading on paper',
      status: {
        environment: 'production',
        isProduction: true,
        autoTradeEnabled: true,
        manualOrders: 'enabled',
      },
      badge: ['Live Trading', 'green'],
      facts: {
        'Auto-Trade': 'ENABLED',
        'Orders by Hand': 'ENABLED',
        'Exchange Mode': 'Paper',
        Deployment: 'LOCAL',
      },
      banner: 'The system is processing signals automatically. All safety checks passed.',
      title: 'Live Trading Active',
      money: 'Orders go to the built-in paper exchange. No real money is traded.',
    },
    {
      name: 'production with automatic trading of real money',
      status: { environment: 'production', isProduction: true, autoTradeEnabled: true, exchangeMode: 'live' },
      badge: ['Live Trading', 'green'],
      facts: { Environment: 'PRODUCTION', 'Auto-Trade': 'ENABLED', 'Exchange Mode': 'Live' },
      banner: 'The system is processing signals automatically. All safety checks passed.',
      title: 'Live Trading Active',
      money: 'Orders go to the exchange. Real money is traded.',
    },
    {
      name: 'a deployment without automatic trading, on the demo exchange',
      status: {
        environment: 'production',
        isProduction: true,
        isDeployment: true,
        hasDeploymentId: true,
        deploymentId: 'deployment-number-tw...',
        serverInstanceId: 'the-instance-with-a-very-long-name',
        exchangeMode: 'demo',
      },
      badge: ['PROD (Manual)', 'yellow'],
      facts: {
        Deployment: 'DEPLOYED',
        'Auto-Trade': 'DISABLED',
        'Orders by Hand': 'DISABLED',
        'Has Deployment ID': 'YES',
        'Server Instance ID': 'the-instance-with-a-...',
      },
      banner: 'Production environment detected, but auto-trading is disabled in configuration.',
      title: 'Production Mode - Manual Only',
      money: "Orders go to the exchange's own demo trading. No real money is traded.",
    },
    {
      name: 'production where nobody said whether to trade',
      status: {
        environment: 'production',
        isProduction: true,
        exchangeMode: 'demo',
        autoTradeConfigured: false,
      },
      badge: ['PROD (Manual)', 'yellow'],
      facts: { 'Auto-Trade': 'DISABLED', 'Auto-Trade Config': 'NOT CONFIGURED' },
      banner: 'Production environment detected, but auto-trading is disabled in configuration.',
      title: 'Production Mode - Manual Only',
      money: "Orders go to the exchange's own demo trading. No real money is traded.",
    },
    {
      name: 'development',
      status: {},
      badge: ['Dev Mode', 'dark-yellow'],
      facts: { Environment: 'DEVELOPMENT', 'Auto-Trade': 'DISABLED', 'Has Deployment ID': 'NO' },
      banner:
        'Auto-trading is disabled. Only manual triggers work, which prevents conflicts with production systems.',
      title: 'Development Mode',
      money: 'No real money is traded.',
    },
    {
      name: 'an environment of another name',
      status: { environment: 'unknown' },
      badge: ['UNKNOWN', 'red'],
      facts: { Environment: 'UNKNOWN', 'Auto-Trade': 'DISABLED' },
      banner: 'Auto-trading is disabled.',
      title: 'Unknown Environment',
      money: 'No real money is traded.',
    },
  ] as const;

  // Requirements: screens-environment-1, screens-environment-2, screens-environment-3, screens-environment-4
  // Requirements: screens-environment-5, accounts-fields-12, accounts-states-14, accounts-states-16
  // Requirements: accounts-limits-3
  test.for(LOOKS)('and its dialog show $name', async (look) => {
    const app = renderApp('/webhook', { [STATUS]: { ...status, ...look.status } });
    const [label, tone] = look.badge;
    const badge = await (await header()).findByRole('button', { name: label });
    expect(badge.getAttribute('data-tone')).toBe(tone);
    await app.user.hover(badge);
    expect((await page().findByRole('tooltip')).textContent).toMatch(
      /Environment: [A-Z]+\s+Auto-Trade: [A-Z]+\s+Exchange Mode: [A-Z][a-z]+\s+Click for detailed information/,
    );
    await app.user.click(badge);
    const details = await dialog('System Environment Details');
    for (const [name, value] of Object.entries(look.facts)) {
      expect((await details.findByText(name)).nextElementSibling?.textContent, name).toBe(value);
    }
    expect(details.queryAllByText('Deployment ID')).toHaveLength(
      'Has Deployment ID' in look.facts && look.facts['Has Deployment ID'] === 'YES' ? 1 : 0,
    );
    const alert = details.getAllByRole('alert')[0]?.textContent;
    expect(alert).toContain(look.title);
    expect(alert).toContain(look.banner);
    for (const text of [look.money, 'Auto-refreshes every 30 seconds']) {
      expect(details.element.textContent).toContain(text);
    }
    const isLive = 'exchangeMode' in look.status && look.status.exchangeMode === 'live';
    expect(
      details.getAllByRole('alert').filter((one) => one.textContent?.includes('Real Money')),
    ).toHaveLength(isLive ? 1 : 0);
  });

  // Requirements: accounts-states-15, accounts-messages-16, trading-messages-3
  test('stays in the loading state when the status cannot be fetched, and its dialog offers a retry', async () => {
    const app = renderApp('/webhook', { [STATUS]: failure(500, 'Internal server error') });
    const badge = await (await header()).findByRole('button', { name: 'Loading...' });
    expect(badge.getAttribute('data-tone')).toBe('grey');
    await eventually(() =>
      expect(badge.getAttribute('data-tip')).toContain('Failed to fetch environment status'),
    );
    await app.user.click(badge);
    await dialog('System Environment Details');
    const failed = await alertOf('Failed to fetch environment status');
    expect(failed.element.textContent).toContain('500: {"message":"Internal server error"}');
    delete app.answers[STATUS];
    await app.user.click(failed.getByRole('button', { name: 'Try again' }));
    await alertOf('Development Mode');
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('dialog'));
    await (await header()).findByRole('button', { name: 'Dev Mode' });
  });
});

// Requirements: screens-session-states-1
test('shows a spinner with Loading... while the session is looked up', async () => {
  const looking = held(recorded[SESSION]);
  const app = renderApp('/', { [SESSION]: looking.promise, 'GET /api/my-positions': PENDING });
  expect((await page().findByRole('status')).textContent).toBe('Loading...');
  looking.release();
  await findTitle(/^Welcome, /);
  expect(app.sent(SESSION)).toHaveLength(1);
});
