// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  alertOf,
  type Call,
  dialog,
  eventually,
  expectToast,
  failure,
  fill,
  ids,
  page,
  recorded,
  renderApp,
  type Scope,
  scopeOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const USERS = 'Users for Signal';
const ADDRESS = `/signals?dialog=users&signal=${ids.signal}`;
const { automaticWorkflows } = recorded['GET /api/signals/01a20be8-1ac2-758a-89b4-074e74df52bc/workflows'];
const CHECK = 'POST /api/signal/check-eligibility';
const check = recorded[CHECK];
const why =
  recorded['GET /api/signals/01a20be8-1ac2-758a-89b4-074e74df52bc/why/369facc9-2cce-4f28-8207-fafeba757fbb'];
const admin = recorded['GET /api/auth/user'].user;
const whyOf = (userId: string) => `GET /api/signals/${ids.signal}/why/${userId}`;
const part = async (name: string) => scopeOf(await page().findByRole('region', { name }));
const value = (scope: Scope, name: string) => scope.getByText(name).nextElementSibling?.textContent;

// Requirements: trading-messages-6
test('reports a breakdown that the server refuses or does not answer', async () => {
  const refused = 'The service is not available at the moment';
  const app = renderApp(`${ADDRESS}&tab=breakdown`, { [CHECK]: failure(503, refused) });
  await expectToast('Failed to check eligibility', refused);
  const failed = await alertOf('Failed to check eligibility');
  app.answers[CHECK] = UNREACHABLE;
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await expectToast('Failed to check eligibility', 'The server cannot be reached');
  delete app.answers[CHECK];
  await app.user.click((await alertOf('Failed to check')).getByRole('button', { name: 'Try again' }));
  await page().findByRole('list', { name: 'Filtration layers' });
});

// Requirements: signals-the-dialogs-13
test('shows four layers, the users each excludes and why, and the users left at the end', async () => {
  const app = renderApp(ADDRESS);
  const users = await dialog(USERS);
  await app.user.click(users.getByRole('tab', { name: 'Eligible Users Breakdown' }));
  await eventually(() => expect(app.address()).toMatch(/&tab=breakdown$/));
  const list = await page().findByRole('list', { name: 'Filtration layers' });
  expect(value(users, 'Current Mode')).toBe('Sandbox');
  expect(value(users, 'Processor')).toBe('Tesla');
  expect(value(users, 'All Users')).toBe('3');
  expect(value(users, 'Final Eligible Users')).toBe('1');
  const layers = [...list.children];
  expect(layers.map((layer) => layer.querySelector('strong')?.textContent)).toEqual(['3', '1', '1', '1']);
  expect(layers[0]?.textContent).toContain('Active users with settings');
  const left = scopeOf(list).getByText(/2 left out/);
  expect(layers[1]?.textContent).toContain('left out: Active trading is off');
  await app.user.hover(left.closest('[data-tip]') ?? left);
  const tip = (await page().findByRole('tooltip')).textContent;
  for (const { username } of check.decisions.filter(({ layer }) => layer === 2))
    expect(tip).toContain(username);
});

test('recomputes the decision on a user and says whether it is identical, or what differs', async () => {
  const { user } = why;
  const VERIFY = `POST /api/signals/${ids.signal}/verify`;
  const identical = { decisions: 3, identical: 3, differing: [], rulesDiffer: false };
  const app = renderApp(`${ADDRESS}&tab=why&user=${user.id}`, {
    [whyOf(user.id)]: why,
    [VERIFY]: UNREACHABLE,
  });
  const recomputed = await part('Recomputed');
  const button = recomputed.getByRole('button', { name: 'Recompute this decision' });
  await app.user.click(button);
  await expectToast('Failed to recompute the decision', 'The server cannot be reached');
  app.answers[VERIFY] = identical;
  await app.user.click(button);
  await recomputed.findByText('Recomputed: identical');

  const balance = { userId: user.id, field: 'balance', recorded: '9000', computed: null };
  const stop = { userId: user.id, field: 'position.stopLoss', recorded: '64000', computed: '63900' };
  const differing = [balance, stop, { ...stop, userId: admin.id, field: 'position.leverage' }];
  app.answers[VERIFY] = { ...identical, identical: 1, differing, rulesDiffer: true };
  await app.user.click(button);
  await recomputed.findByText('Recomputed: different');
  expect(recomputed.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'balance: changed in the database, now 9000',
    'position.stopLoss: recorded 64000, computed 63900',
  ]);
  recomputed.getByText(/trading constants have changed/);
});

// Requirements: additions-why-and-why-not-1
test('explains why a user is excluded: the deciding rule, what it saw and wanted, then and now', async () => {
  const checks = [
    { layer: 2, rule: 'Processor', result: 'passed', saw: 'Tesla', wanted: 'Tesla or Any' },
    { layer: 2, rule: 'Active trading', result: 'failed', saw: 'off', wanted: 'on' },
    { layer: 2, rule: 'Trading pause', result: 'not reached', saw: null, wanted: null },
  ];
  const decided = {
    status: 'not eligible',
    reason: 'Active trading is off',
    rule: 'Active trading',
    saw: 'off',
    wanted: 'on',
    checks,
  };
  const explained = {
    ...why,
    user: { ...why.user, id: admin.id, username: admin.username },
    conclusion: { outcome: 'not eligible', text: 'Active trading is off' },
    decidedThen: decided,
    decidedNow: decided,
    steps: [],
    trades: [],
  };
  const app = renderApp(`${ADDRESS}&tab=why`, { [whyOf(admin.id)]: UNREACHABLE });
  const users = await dialog(USERS);
  const search = await users.findByLabelText('Search users');
  fill(search, 'no such user');
  await users.findByText(/No user matches/);
  fill(search, 'ADMIN');
  await app.user.click(await users.findByRole('button', { name: /^admin@example\.com/ }));
  await eventually(() => expect(app.address()).toContain(`tab=why&user=${admin.id}`));
  const failed = await alertOf('Failed to fetch the explanation');
  app.answers[whyOf(admin.id)] = explained;
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));

  expect((await part('Conclusion')).element.textContent).toContain('Active trading is off');
  const then = await part('As decided then');
  expect(['Deciding rule', 'It saw', 'It wanted'].map((name) => value(then, name))).toEqual([
    'Active trading',
    'off',
    'on',
  ]);
  const items = then.getAllByRole('listitem').map((item) => item.textContent);
  for (const [at, { rule, result }] of checks.entries()) {
    expect(items[at]).toContain(rule);
    expect(items[at]).toContain(result);
  }
  expect((await part('As it would be decided now')).element.textContent).toContain(
    'saw Tesla, wanted Tesla or Any',
  );
  await app.user.click(users.getByRole('button', { name: 'Choose another user' }));
  await users.findByLabelText('Search users');
  expect(app.address()).toMatch(/tab=why$/);
});

// Requirements: additions-why-and-why-not-2
test('explains a user whom the workflow never considered', async () => {
  const later = { id: '00000000-0000-4000-8000-000000000001', username: 'later@example.com' };
  const text = 'The user was created after the workflow had selected its users';
  const app = renderApp(`${ADDRESS}&tab=why`, {
    'GET /api/users': [...recorded['GET /api/users'], later],
    [whyOf(later.id)]: {
      ...why,
      user: { ...why.user, ...later },
      conclusion: { outcome: 'not considered', text },
      decidedThen: null,
      steps: [],
      trades: [],
    },
  });
  fill(await page().findByLabelText('Search users'), 'later');
  const found = await page().findByRole('button', { name: /^later@example\.com/ });
  expect(found.textContent).toContain('Not considered');
  await app.user.click(found);
  expect((await part('Conclusion')).element.textContent).toContain(text);
  expect((await part('As decided then')).element.textContent).toContain('Nothing was decided on this user');
  expect((await part('As it would be decided now')).element.textContent).toContain('Eligible');
});

testEveryCase('explains each workflow of the signal separately', async () => {
  const [automatic] = automaticWorkflows;
  const conclusion = { outcome: 'skipped', text: 'This signal was already traded for the user' };
  const trades = why.trades.map((trade) => ({ ...trade, ofThisWorkflow: false }));
  const app = renderApp(`${ADDRESS}&tab=why&user=${ids.follower}`, {
    [whyOf(ids.follower)]: ({ query }: Call) =>
      query.workflowId === automatic?.id ? { ...why, conclusion, trades } : why,
  });
  expect((await part('Conclusion')).element.textContent).toContain('The order was filled');
  const choice = await page().findByLabelText('Workflow');
  const options = [...choice.querySelectorAll('option')].map((option) => option.textContent);
  expect(options).toEqual([expect.stringMatching(/^Manual /), expect.stringMatching(/^Automatic /)]);
  await app.user.selectOptions(choice, automatic?.id ?? '');
  await eventually(async () =>
    expect((await part('Conclusion')).element.textContent).toContain(conclusion.text),
  );
  expect(app.address()).toContain(`workflow=${automatic?.id}`);
  expect((await part('After eligibility')).element.textContent).toContain('Order of workflow');
});

testEveryCase('explains why an eligible user traded, and reports an unknown user', async () => {
  const app = renderApp(ADDRESS);
  await app.user.click(await page().findByRole('button', { name: 'Why, follower@example.com' }));
  expect((await part('Conclusion')).element.textContent).toContain('TradedThe order was filled');
  expect((await part('As decided then')).element.textContent).toContain('All eligibility criteria met');
  const after = (await part('After eligibility')).getAllByRole('listitem');
  expect(after).toHaveLength(4);
  expect(after.at(-1)?.textContent).toContain('Order of this workflow');
  expect(after.at(-1)?.textContent).toContain('Filled');
  const nobody = '00000000-0000-4000-8000-000000000000';
  renderApp(`${ADDRESS}&tab=why&user=${nobody}`, { [whyOf(nobody)]: failure(404, 'User not found') });
  await alertOf('404: {"message":"User not found"}');
});
