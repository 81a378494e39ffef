// @vitest-environment jsdom

import { within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  alertOf,
  chosen,
  eventually,
  failure,
  page,
  recorded,
  renderApp,
  rowsOf,
  savedFiles,
} from '#test/web/render-app.tsx';

const RESULTS = 'GET /api/performance';
const CALENDAR = 'GET /api/performance/calendar';
const TRADES = 'GET /api/performance/trades';
const answer = recorded[RESULTS];
const [group] = answer.groups;
const [trade] = recorded[TRADES].trades;
const button = (name: string) => page().findByRole('button', { name });
const tile = (label: string) =>
  page()
    .getAllByText(label)
    .find((one) => one.tagName === 'DT')?.nextElementSibling?.textContent;

// Requirements: results-page-1
test('shows the figures of the range, by strategy, day, R and trade', async () => {
  renderApp('/performance?range=all');
  await page().findByRole('table', { name: 'Breakdown by strategy' });
  expect(tile('Net after fees')).toBe('+$10,754.64');
  expect(tile('Win rate')).toBe('100.0%');
  expect(tile('Expectancy')).toBe('+3.90 R');
  expect(tile('Costs')).toBe('$45.36');
  expect(tile('Fill rate')).toBe('62.5%');
  await page().findByRole('img', { name: /^Cumulative net from/ });
  await page().findByRole('table', { name: 'Net a day' });
  await eventually(() => expect(rowsOf('Closed trades')).toHaveLength(1));
  expect(rowsOf('Closed trades')[0]?.textContent).toContain('+$10,754.64');
});

// Requirements: results-equity-2
test('equity and drawdown are of the range and the user, and say which filters do not apply', async () => {
  const app = renderApp('/performance?range=90d&userId=369facc9-2cce-4f28-8207-fafeba757fbb&token=SOL');
  await page().findByRole('img', {
    name: /^Equity from 2026\/11\/27 12:00 to 2026\/11\/27 14:12: ends at \$40,694\.61/,
  });
  page().getByText('Max drawdown $30.55 (0.10%)');
  await page().findByRole('img', { name: 'Drawdown: at most $30.55 below the highest equity' });
  await page().findByText(/Of whole accounts: the filters of strategy and token do not apply/);
  const [sent] = app.sent('GET /api/performance/equity');
  expect(Object.keys(sent?.query ?? {}).sort()).toEqual(['from', 'userId']);
});

// Requirements: results-page-2
test('a chip, a group and a sorted column stand in the address and in what is asked for', async () => {
  const app = renderApp('/performance');
  await app.user.click(await button('90 d'));
  await eventually(() => expect(app.address()).toBe('/performance?range=90d'));
  await app.user.click(await button('User'));
  await eventually(() => expect(app.address()).toBe('/performance?range=90d&by=user'));
  const closed = within(await page().findByRole('table', { name: 'Closed trades' }));
  await app.user.click(closed.getByRole('button', { name: 'Net' }));
  await eventually(() => expect(app.address()).toBe('/performance?range=90d&by=user&sort=net'));
  const queries = (path: string) => app.sent(`GET ${path}`).map((call) => call.query);
  await eventually(() => {
    expect(queries('/api/performance').at(-1)).toMatchObject({
      groupBy: 'user',
      from: expect.stringMatching(/T0[78]:00/),
    });
    expect(queries('/api/performance/trades').at(-1)).toMatchObject({
      sort: 'net',
      order: 'desc',
      page: '1',
    });
  });
  const { from } = queries('/api/performance').at(-1) ?? {};
  expect(queries('/api/performance/calendar').at(-1)).toMatchObject({ from });
  expect(queries('/api/performance/trades').at(-1)).toMatchObject({ from });
});

// Requirements: results-fills-1
test('the breakdown sorts by any figure, groups without it last, and is exported with its fill rates', async () => {
  const groups = [
    { ...group, key: 'Tesla', label: 'Tesla', fillRate: '62.50' },
    { ...group, key: 'Bots', label: 'Bots', orders: 0, filled: 0, fillRate: null },
    { ...group, key: 'UD Bot', label: 'UD Bot', fillRate: '9.00' },
  ];
  const app = renderApp('/performance', { [RESULTS]: { ...answer, groups } });
  const table = within(await page().findByRole('table', { name: 'Breakdown by strategy' }));
  const names = () =>
    table.getAllByRole('rowheader').map((head) => head.textContent?.replace(/^[^\w]*/, '') ?? '');
  expect(names()).toEqual(['Tesla', 'Bots', 'UD Bot', 'Total']);
  const head = table.getByRole('button', { name: 'Fill rate' });
  await app.user.click(head);
  expect(names()).toEqual(['Tesla', 'UD Bot', 'Bots', 'Total']);
  await app.user.click(head);
  expect(names()).toEqual(['UD Bot', 'Tesla', 'Bots', 'Total']);
  expect(table.getByRole('columnheader', { name: 'Fill rate' }).getAttribute('aria-sort')).toBe('ascending');
  await app.user.click(await button('Export breakdown'));
  await eventually(() => expect(savedFiles).toHaveLength(1));
  const [heads = '', first = ''] = (await savedFiles[0]?.blob.text())?.split('\r\n') ?? [];
  const cell = (name: string) => first.split(',')[heads.split(',').indexOf(name)];
  expect(['Orders', 'Filled', 'Fill rate %'].map((name) => cell(name))).toEqual(['8', '5', '62.50']);
});

testEveryCase('a strategy opens into its tokens', async () => {
  const app = renderApp('/performance');
  app.answers[RESULTS] = answer;
  const strategy = await page().findByRole('button', { name: /Tesla/ });
  app.answers[RESULTS] = { ...answer, groupBy: 'token', groups: [{ ...group, key: 'SOL', label: 'SOL' }] };
  await app.user.click(strategy);
  await page().findByRole('rowheader', { name: 'SOL' });
  expect(strategy.getAttribute('aria-expanded')).toBe('true');
});

// Requirements: results-page-3
test('says of sums that leave out trades how many and why', async () => {
  const unknown = { ...answer.totals.unknown, net: 2, funding: 5, r: 2, gross: 5, fees: 2 };
  renderApp('/performance', {
    [RESULTS]: { ...answer, totals: { ...answer.totals, trades: 12, unknown } },
    [TRADES]: { trades: [{ ...trade, net: null, gross: null, fees: null, r: null }], totalCount: 1 },
  });
  await page().findByText(/2 trades not in net, because the exchange has not told how the position ended/);
  await page().findByText(/funding of 5 trades is unknown/);
  await eventually(() => expect(rowsOf('Closed trades')[0]?.textContent).toContain('unknown'));
});

testEveryCase('pictures can be read as tables', async () => {
  const distributionOfR = [{ r: '-1', trades: 3 }];
  const app = renderApp('/performance?range=all', {
    [RESULTS]: { ...answer, totals: { ...answer.totals, distributionOfR } },
  });
  await page().findByText('3 trades');
  await page().findByRole('table', { name: 'Net a day' });
  for (const toggle of await page().findAllByRole('button', { name: 'Show as table' }))
    await app.user.click(toggle);
  for (const name of ['Cumulative net and drawdown', 'Net a day', 'Distribution of R']) {
    await page().findByRole('table', { name });
  }
});

testEveryCase('without trades it says what to do, and a failed panel offers to try again', async () => {
  const none = { ...answer, totals: { ...answer.totals, trades: 0, wins: 0 }, groups: [] };
  const app = renderApp('/performance', { [RESULTS]: none });
  await page().findByText(/No trade was closed in this range\. Choose a longer range/);
  await page().findByRole('img', { name: /^Equity from/ });
  app.answers[RESULTS] = failure(503, 'Not now');
  app.answers[CALENDAR] = failure(503, 'Not now');
  await app.user.click(await button('All'));
  const failed = await alertOf('Failed to fetch the performance');
  app.answers[RESULTS] = answer;
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  const calendar = await alertOf('Failed to fetch the net of each day');
  delete app.answers[CALENDAR];
  await app.user.click(calendar.getByRole('button', { name: 'Try again' }));
  await page().findByRole('table', { name: 'Net a day' });
});

test('a statement of the chosen user is offered for a month, to print and as files', async () => {
  const userId = '369facc9-2cce-4f28-8207-fafeba757fbb';
  const app = renderApp('/performance?range=all');
  await page().findByText('Choose a user above to get a statement.');
  await app.user.selectOptions(page().getByRole('combobox', { name: 'User' }), userId);
  const month = await page().findByRole('combobox', { name: 'Month of the statement' });
  const [, before] = [...month.querySelectorAll('option')].map(({ value }) => value);
  await app.user.selectOptions(month, before ?? '');
  for (const [label, format] of [
    ['Print', 'html'],
    ['CSV', 'csv'],
    ['JSON', 'json'],
  ] as const) {
    expect(page().getByRole('link', { name: label }).getAttribute('href')).toBe(
      `/api/statements/${userId}?month=${before}&format=${format}`,
    );
  }
});

// Requirements: results-statements-8
test('the statements of all users of a month are requested, followed and downloaded', async () => {
  const PATH = '/api/admin/statement-archives';
  const base = { id: '01a3c3f2-5b1e-7c3d-8f4a-2b6c7d8e9f01', createdAt: '2026-11-27T22:12:40.118Z' };
  const working = { ...base, createdBy: 'ada', state: 'working', users: 40, done: 10, incomplete: 0 };
  const app = renderApp('/performance', { [`GET ${PATH}`]: { archives: [] }, [`POST ${PATH}`]: base });
  await page().findByText('Choose a month and generate the statements of all users.');
  const select = await page().findByRole('combobox', { name: 'Month of all statements' });
  const month = chosen(select).replace('/', '-');
  expect(month).toBe([...select.querySelectorAll('option')][1]?.value);
  app.answers[`GET ${PATH}`] = { archives: [{ ...working, month, bytes: null }] };
  await app.user.click(await button('Generate'));
  await page().findByText('10 of 40 users');
  expect(app.sent(`POST ${PATH}`).map(({ body }) => body)).toEqual([{ month }]);
  const ready = { ...working, month, state: 'ready', done: 40, incomplete: 3, bytes: 1_234_567 };
  app.answers[`GET ${PATH}`] = { archives: [ready] };
  await page().findByText(/^40 users, 1\.2 MB, 3 incomplete$/, {}, { timeout: 5_000 });
  const link = page().getByRole('link', { name: 'Download' });
  expect(link.getAttribute('href')).toBe(`${PATH}/${base.id}/download`);
});
