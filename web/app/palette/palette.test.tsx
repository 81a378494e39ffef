// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  type App,
  dialog,
  eventually,
  expectGone,
  failure,
  fill,
  findTitle,
  ids,
  page,
  recorded,
  renderApp,
  textIn,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const NOTHING = '01890a5d-ac96-774b-bcce-b302099a8057';
const [signal] = recorded['GET /api/signals'].signals;
const shortId = `${ids.signal.slice(0, 4)}...${ids.signal.slice(-4)}`;

const open = async (app: App) => {
  await app.user.keyboard('{Control>}k{/Control}');
  return await dialog('Search and go to');
};
const field = async () => page().findByRole('combobox', { name: 'Search' });
const options = () =>
  page()
    .queryAllByRole('option')
    .map((option) => option.textContent);
const note = async () => (await dialog('Search and go to')).getByRole('status').textContent;
const active = async () =>
  document.getElementById((await field()).getAttribute('aria-activedescendant') ?? '')?.textContent;

async function goTo(app: App, text: string, label: string) {
  await open(app);
  fill(await field(), text);
  await eventually(async () => expect(await active()).toContain(label));
  await app.user.keyboard('{Enter}');
  await expectGone(() => page().queryByRole('dialog', { name: 'Search and go to' }));
}

// Requirements: additions-finding-keys-and-columns-2
test('takes an administrator to a page, a token, a user, a signal and a workflow by keyboard only', async () => {
  const app = renderApp('/webhook', {
    [`GET /api/signals/${ids.workflow}`]: failure(404, 'Signal not found'),
  });
  await findTitle('Webhook Configuration');
  await goTo(app, 'price', 'Price Logs');
  await findTitle('Price Logs');
  await goTo(app, 'eth', 'ETH');
  await eventually(() => expect(app.address()).toBe('/signals?token=ETH'));
  await goTo(app, 'other@exa', 'other@example.com');
  await findTitle('User Settings - other@example.com');
  for (const text of [shortId, ids.signal.slice(-6), ` ${ids.signal.toUpperCase()} `]) {
    await goTo(app, text, shortId);
    expect((await dialog('Signal Details')).element.textContent).toContain(signal?.token);
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('dialog'));
  }
  await goTo(app, ids.workflow, ids.workflow.slice(-4));
  await (await dialog('Workflow Execution Steps')).findAllByText('Validate Signal');
});

// Requirements: additions-finding-keys-and-columns-2
testEveryCase('finds an old signal by its complete id, and reports an unknown id', async () => {
  const app = renderApp('/webhook', {
    'GET /api/signals': { ...recorded['GET /api/signals'], signals: [], total: 0 },
    'GET /api/users': UNREACHABLE,
    [`GET /api/signals/${NOTHING}`]: failure(404, 'Signal not found'),
    [`GET /api/automation-workflows/${NOTHING}/steps`]: failure(404, 'Workflow not found'),
    [`GET /api/signals/${ids.workflow}`]: failure(500, 'Internal server error'),
  });
  await findTitle('Webhook Configuration');
  await open(app);
  await eventually(async () => expect(await note()).toBe('Could not be loaded: users'));
  expect(options().some((option) => option?.includes('Price Logs'))).toBe(true);
  fill(await field(), ids.workflow);
  await eventually(async () => expect(await note()).toBe('Could not be loaded: users, this id'));
  delete app.answers['GET /api/users'];
  await app.user.keyboard('{Escape}');
  await expectGone(() => page().queryByRole('dialog'));

  await open(app);
  fill(await field(), NOTHING);
  await eventually(async () => expect(await note()).toBe('Nothing found'));
  expect(options()).toEqual([]);
  await app.user.keyboard('{Enter}');
  page().getByRole('dialog');
  fill(await field(), ids.signal);
  await eventually(async () => expect(await active()).toContain(shortId));
  await app.user.keyboard('{Enter}');
  await dialog('Signal Details');
});

// Requirements: additions-finding-keys-and-columns-3
test('shows an ordinary user only their own pages', async () => {
  const pages = recorded['GET /api/navigation/pages'].pages.filter(({ adminOnly }) => !adminOnly);
  const app = renderApp('/webhook', { 'GET /api/navigation/pages': { pages } }, { user: { isAdmin: false } });
  await findTitle('Webhook Configuration');
  await open(app);
  await eventually(() =>
    expect(options().map((option) => /^[A-Z][a-z]+/.exec(option ?? '')?.[0])).toContain('Settings'),
  );
  for (const text of ['ETH', 'other@example.com', ids.signal, 'admin', 'signals']) {
    fill(await field(), text);
    await eventually(async () => expect(await note()).toBe('Nothing found'));
  }
  expect(app.calls.filter(({ key }) => /\/api\/(signals|users|automation)/.test(key))).toEqual([]);
  fill(await field(), 'settings');
  await app.user.keyboard('{Enter}');
  await eventually(() => expect(app.address()).toBe('/settings'));
});

testEveryCase('arrows and pointer choose; Escape and the shortcut close', async () => {
  const app = renderApp('/price-logs');
  await page().findByRole('cell', { name: /^BTC/ });
  const refresh = page().getByRole('button', { name: 'Refresh' });
  refresh.focus();
  await open(app);
  await eventually(async () => expect(await active()).toContain('Dashboard'));
  await app.user.keyboard('{ArrowDown}');
  expect(await active()).toContain('Signals');
  await app.user.keyboard('{ArrowUp}{ArrowUp}');
  expect(await active()).toContain('Keyboard Shortcuts');
  const workflows = () =>
    page()
      .getAllByRole('option')
      .find((option) => option.textContent?.includes('Workflows')) ?? document.body;
  await app.user.hover(workflows());
  expect(await active()).toContain('Workflows');
  await app.user.keyboard('{Escape}');
  await expectGone(() => page().queryByRole('dialog'));
  await eventually(() => expect(document.activeElement).toBe(refresh));
  await open(app);
  await app.user.keyboard('{Control>}k{/Control}');
  await expectGone(() => page().queryByRole('dialog'));
  await open(app);
  await app.user.click(workflows());
  await findTitle('Automation Workflows');
});

test('does not open over a dialog', async () => {
  const app = renderApp('/create-client?dialog=create');
  const firstName = (await dialog('Create New User')).getByLabelText('First Name');
  firstName.focus();
  await app.user.keyboard('{Control>}k{/Control}Ann');
  expect(textIn(firstName)).toBe('Ann');
  expect(page().getAllByRole('dialog')).toHaveLength(1);
});
