// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import {
  type Answers,
  alertOf,
  dialog,
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
  rowOf,
  scopeOf,
} from '#test/web/render-app.tsx';

const STOPS = 'GET /api/trading-stops';
const STOP = 'POST /api/trading-stops';
const RUNS = 'GET /api/positions/close-all';
const CLOSE_ALL = 'POST /api/positions/close-all';
const ADMIN = recorded['GET /api/auth/user'].user;
const ANN = { id: '0000aaaa-0000-4000-8000-00000000bbbb', username: 'ann@example.com' };
const users = { 'GET /api/users': [ANN] };

const stop = (kind: string, value: string | null, more: object = {}) => ({
  id: `${kind}-${value}`,
  scope: { kind, value },
  reason: null,
  createdAt: '2026-11-27T12:00:00.000Z',
  createdBy: 'grace@example.com',
  until: null,
  ...more,
});
const ALL = stop('all', null, { reason: 'news' });
const pause = {
  ...stop('user', ANN.id),
  id: `pause-${ANN.id}`,
  reason: 'Paused in the settings',
  createdAt: null,
  createdBy: null,
  until: '2099-01-01T00:00:00.000Z',
};
const run = (more: object = {}) => ({
  id: 'run',
  scope: { kind: 'all', value: null },
  createdAt: '2026-11-27T12:00:00.000Z',
  createdBy: 'grace@example.com',
  state: 'running',
  total: 4,
  closed: 1,
  failed: [],
  skipped: [],
  ...more,
});

async function openMenu(answers: Answers = {}, browser = {}) {
  const app = renderApp('/webhook', { [STOPS]: [], ...users, ...answers }, browser);
  await app.user.click(await page().findByRole('button', { name: /^Stop(ped)?$/ }));
  const menu = scopeOf(await page().findByRole('menu', { name: 'Stop' }));
  await menu.findAllByRole('menuitem', { name: /^For / });
  return { app, menu };
}
const choose = async (answers: Answers, item: RegExp, title: string) => {
  const { app, menu } = await openMenu(answers);
  await app.user.click((await menu.findAllByRole('menuitem', { name: item }))[0] as HTMLElement);
  return { app, form: await dialog(title) };
};

// Requirements: additions-stops-8
describe('the Stop menu', () => {
  test('names the scopes with their present state, and closing apart', async () => {
    const { menu } = await openMenu({
      [STOPS]: [stop('token', 'PEPE'), stop('strategy', 'Tesla'), pause],
    });
    const items = () => menu.getAllByRole('menuitem').map(({ textContent }) => textContent);
    await eventually(() =>
      expect(items().slice(0, 4)).toEqual([
        'For everybodyAutomatic, reversals and by hand',
        'For a strategyTesla is stopped',
        'For a tokenPEPE is stopped',
        'For a userann@example.com is paused',
      ]),
    );
    expect(items()[4]).toMatch(/^Close all positions…/);
    expect(menu.element.textContent).toContain(
      'A stop never blocks closing, protecting or checking positions.',
    );
  });

  testEveryCase('is used with the keyboard', async () => {
    const { app, menu } = await openMenu();
    await eventually(() => expect(document.activeElement?.textContent).toMatch(/^For everybody/));
    await app.user.keyboard('{ArrowDown}{Enter}');
    expect((await dialog('Stop New Entries')).getByLabelText('Strategy')).toBeTruthy();
    await expectGone(() => page().queryByRole('menu', { name: 'Stop' }));
    expect(menu.element.isConnected).toBe(false);
  });

  test('offers an ordinary user only their own entries', async () => {
    const { app, menu } = await openMenu({ [STOP]: stop('user', ADMIN.id) }, { user: { isAdmin: false } });
    expect(menu.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual([
      'For meNobody is stopped',
    ]);
    await app.user.click(menu.getByRole('menuitem'));
    const form = await dialog('Stop New Entries');
    expect(form.queryByLabelText('User')).toBeNull();
    await app.user.click(form.getByRole('button', { name: 'Stop new entries' }));
    await expectToast('New entries stopped');
    expect(app.sent(STOP)[0]?.body).toEqual({ scope: { kind: 'user', value: ADMIN.id } });
    expect(app.sent(RUNS)).toEqual([]);
  });
});

// Requirements: additions-stops-8
describe('the dialog of a stop', () => {
  test('sends scope, reason and end', async () => {
    const { app, form } = await choose({ [STOP]: stop('token', 'ETH') }, /^For a token/, 'Stop New Entries');
    const button = form.getByRole('button', { name: 'Stop new entries' });
    expect(isDisabled(button)).toBe(true);
    await form.findByRole('option', { name: 'ETH' });
    fill(form.getByLabelText('Token'), 'ETH');
    fill(form.getByLabelText('Reason'), ' news ');
    fill(form.getByLabelText('Lasts'), '4');
    await app.user.click(button);
    await expectToast('New entries stopped', 'No entry for ETH leaves any more');
    const body = app.sent(STOP)[0]?.body as { until: string };
    expect(body).toEqual({
      scope: { kind: 'token', value: 'ETH' },
      reason: 'news',
      until: expect.any(String),
    });
    expect(Math.round((Date.parse(body.until) - Date.now()) / 3_600_000)).toBe(4);
    await expectGone(() => page().queryByRole('dialog'));
  });

  test('stays open and says that nothing is stopped when the server cannot do it', async () => {
    const { app, form } = await choose(
      { [STOP]: failure(503, 'The database cannot be reached') },
      /^For everybody/,
      'Stop New Entries',
    );
    await app.user.click(form.getByRole('button', { name: 'Stop new entries' }));
    const alert = await alertOf('New entries are not stopped');
    expect(alert.element.textContent).toContain('The database cannot be reached');
  });

  test('lifts the stop for everybody only after RESUME was typed', async () => {
    const { app, form } = await choose(
      { [STOPS]: [ALL], [`DELETE /api/trading-stops/${ALL.id}`]: {} },
      /^For everybody/,
      'Stop New Entries',
    );
    const lift = await form.findByRole('button', { name: 'Lift the stop for everybody' });
    expect(isDisabled(lift)).toBe(true);
    fill(form.getByLabelText(/^Type RESUME/), 'resume');
    expect(isDisabled(lift)).toBe(true);
    fill(form.getByLabelText(/^Type RESUME/), 'RESUME');
    await app.user.click(lift);
    await expectToast('Stop lifted', 'New entries for everybody are possible again');
  });

  testEveryCase('offers no lifting of a pause, and to ordinary users none of an administrator', async () => {
    const { form } = await choose({ [STOPS]: [pause] }, /^For a user/, 'Stop New Entries');
    expect((await form.findByText(/is paused/)).textContent).toContain('ann@example.com');
    expect(form.queryByRole('button', { name: /^Lift/ })).toBeNull();
    expect(form.element.textContent).toContain('It ends in the settings');
  });
});

// Requirements: additions-flatten-5
describe('the dialog that closes all positions', () => {
  test('closes a chosen scope only after CLOSE was typed', async () => {
    const { app, form } = await choose({ [CLOSE_ALL]: { id: 'run' } }, /^Close all/, 'Close All Positions');
    const button = form.getByRole('button', { name: 'Close all positions' });
    fill(form.getByLabelText('For'), 'user');
    fill(form.getByLabelText('Type CLOSE to confirm'), 'CLOSE');
    expect(isDisabled(button)).toBe(true);
    fill(form.getByLabelText('User'), ANN.id);
    fill(form.getByLabelText('Type CLOSE to confirm'), 'close');
    expect(isDisabled(button)).toBe(true);
    fill(form.getByLabelText('Type CLOSE to confirm'), 'CLOSE');
    await app.user.click(form.getByLabelText('Keep new entries stopped afterwards'));
    await app.user.click(button);
    await expectToast('Closing all positions');
    expect(app.sent(CLOSE_ALL)[0]?.body).toEqual({
      scope: { kind: 'user', value: ANN.id },
      confirm: 'CLOSE',
      stop: false,
    });
  });
});

// Requirements: additions-stops-8
test('a banner says that everybody is stopped, and leads to lifting it', async () => {
  const app = renderApp('/webhook', { [STOPS]: [ALL], ...users });
  const banner = scopeOf(await page().findByRole('complementary', { name: 'Stop of new entries' }));
  expect(banner.element.textContent).toMatch(
    /^New entries are stopped for everybody since .+ by grace@example\.com \(news\)\./,
  );
  expect(page().getByRole('button', { name: 'Stopped' })).toBeTruthy();
  await app.user.click(banner.getByRole('button', { name: 'Lift…' }));
  expect((await dialog('Stop New Entries')).getByLabelText(/^Type RESUME/)).toBeTruthy();
});

// Requirements: additions-flatten-5
test('the progress of a closing is shown, with what could not be closed and how to end it', async () => {
  const failed = [{ userId: ANN.id, token: 'BTC', reason: 'Parameter error' }];
  const app = renderApp('/webhook', {
    [STOPS]: [],
    ...users,
    [RUNS]: [run({ state: 'done', closed: 3, failed })],
    'DELETE /api/positions/close-all/run': {},
  });
  const banner = scopeOf(await page().findByRole('complementary', { name: 'Closing of all positions' }));
  expect(banner.element.textContent).toContain(
    'Closed 3 of 4 positions of everybody, asked for by grace@example.com',
  );
  expect(banner.getByRole('progressbar', { name: '3 of 4 positions closed' })).toBeTruthy();
  await eventually(() =>
    expect(banner.getByRole('alert').textContent).toBe(
      'BTC of ann@example.com could not be closed and is tried every minute: Parameter error',
    ),
  );
  await app.user.click(banner.getByRole('button', { name: 'Dismiss' }));
  await eventually(() => expect(app.sent('DELETE /api/positions/close-all/run')).toHaveLength(1));
});

// Requirements: additions-stops-8
test('a switch in a user’s row shows whether the user is stopped, and opens the dialog', async () => {
  const { users: rows } = recorded['GET /api/admin/users'];
  const row = { ...rows[0], ...ANN };
  const app = renderApp('/create-client', {
    [STOPS]: [stop('user', ANN.id)],
    ...users,
    'GET /api/admin/users': { users: [row], total: 1 },
  });
  const shown = await rowOf('Users', ANN.username);
  const toggle = await shown.findByRole('switch', { name: `Stop of new entries of ${ANN.username}` });
  await eventually(() => expect(toggle.getAttribute('aria-checked')).toBe('true'));
  expect(shown.element.textContent).toContain('Stopped');
  await app.user.click(toggle);
  const form = await dialog('Stop New Entries');
  expect(await form.findByRole('button', { name: `Lift the stop for ${ANN.username}` })).toBeTruthy();
});

// Requirements: additions-stops-8
const words: [string, string, string][] = [
  ['stop new entries', 'Stop new entries', 'Stop New Entries'],
  ['pause eth', 'Stop new entries of ETH', 'Stop New Entries'],
  ['pause ann', 'Stop new entries of ann@example.com', 'Stop New Entries'],
  ['close all', 'Close all positions', 'Close All Positions'],
];
test.each(firstCases(words))('the palette opens the dialog for %j', async (text, label, title) => {
  const app = renderApp('/webhook', { [STOPS]: [], ...users });
  await findTitle('Webhook Configuration');
  await app.user.keyboard('{Control>}k{/Control}');
  await dialog('Search and go to');
  fill(await page().findByRole('combobox', { name: 'Search' }), text);
  const option = await eventually(() => {
    const found = page()
      .getAllByRole('option')
      .find((one) => one.textContent?.startsWith(label));
    if (found === undefined) throw new Error(`no action ${label}`);
    return found;
  });
  await app.user.click(option);
  await dialog(title);
});
