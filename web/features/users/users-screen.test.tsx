// @vitest-environment jsdom
import { describe, expect, test, vi } from 'vitest';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import {
  type Answers,
  alertOf,
  type Call,
  chosen,
  descriptionOf,
  dialog,
  eventually,
  expectGone,
  expectToast,
  Failure,
  failure,
  fill,
  first,
  held,
  isChecked,
  isDisabled,
  PENDING,
  page,
  recorded,
  renderApp,
  rowOf,
  rowsOf,
  type Scope,
  scopeOf,
  textIn,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const USERS = 'GET /api/admin/users';
const CREATE = 'POST /api/admin/create-client';
const firstUser = first(recorded[USERS].users);
const ADMIN = recorded['GET /api/auth/user'].user;

const userOf = (fields: Partial<typeof firstUser> = {}) => ({ ...firstUser, ...fields });
const usersAnswer = (...users: Record<string, unknown>[]) => ({ users, total: users.length });
const ann = userOf({ id: '0000aaaa-0000-4000-8000-00000000bbbb', username: 'ann@example.com' });
const ofAnn = (part: string) => `PUT /api/admin/user/${ann.id}/${part}`;

/** Answers pages of ten, as the server does. */
const pagesOf = (total: number) => (call: Call) => {
  const start = (Number(call.query.page ?? 1) - 1) * 10;
  const length = Math.max(0, Math.min(10, total - start));
  const users = Array.from({ length }, (_, at) =>
    userOf({ id: `user-${start + at}`, username: `user-${start + at}@example.com` }),
  );
  return { users, total };
};

const openForm = async (answers: Answers = {}) => {
  const app = renderApp('/create-client?dialog=create', { [USERS]: usersAnswer(ann), ...answers });
  return { app, form: await dialog('Create New User') };
};
const create = (form: Scope) => form.getByRole('button', { name: 'Create User' });

function fillIn(form: Scope, password = 'carol, carol') {
  fill(form.getByLabelText(/^Username/), 'carol@example.com');
  fill(form.getByLabelText(/^Password/), password);
  fill(form.getByLabelText(/^Confirm Password/), password);
}

describe('the new user form', () => {
  // Requirements: accounts-validation-4, accounts-validation-5, accounts-validation-6, accounts-validation-7
  test('reports what is wrong with each field', async () => {
    const { app, form } = await openForm();
    const username = form.getByLabelText(/^Username/);
    await app.user.click(create(form));
    form.getByText('Username must be at least 3 characters');
    form.getByText('Password must be at least 6 characters');

    fill(username, `${'a'.repeat(50)}@example.com`);
    fill(form.getByLabelText(/^Password/), 'p'.repeat(101));
    fill(form.getByLabelText(/^Confirm Password/), 'something else');
    fill(form.getByLabelText('Country Code'), '49');
    fill(form.getByLabelText('Mobile Number'), '0170-123');
    await app.user.click(create(form));
    form.getByText('Username must be less than 50 characters');
    form.getByText('Password must be less than 100 characters');
    form.getByText("Passwords don't match");
    form.getByText('Country code must start with + followed by digits');
    form.getByText('Mobile number must contain only digits');

    fill(username, 'not an address');
    await app.user.click(create(form));
    form.getByText('Please enter a valid email address');
    expect(isChecked(form.getByLabelText('Administrator'))).toBe(false);
    expect(document.activeElement).toBe(username);
    expect(app.sent(CREATE)).toEqual([]);
  });

  // Requirements: screens-users-3, accounts-messages-13
  testEveryCase(
    'keeps the input when the name is taken, and creates the user with another name',
    async () => {
      const { app, form } = await openForm({
        [CREATE]: failure(409, 'A user with this username already exists'),
      });
      fillIn(form);
      fill(form.getByLabelText('First Name'), 'Carol');
      await app.user.click(create(form));
      await expectToast('Failed to Create User', 'A user with this username already exists');
      form.getByText('A user with this username already exists');
      expect(textIn(form.getByLabelText(/^Username/))).toBe('carol@example.com');
      expect(textIn(form.getByLabelText(/^Password/))).toBe('carol, carol');
      expect(textIn(form.getByLabelText('First Name'))).toBe('Carol');

      app.answers[CREATE] = { user: userOf({ username: 'carola@example.com' }) };
      fill(form.getByLabelText(/^Username/), 'carola@example.com');
      await app.user.click(create(form));
      await expectToast('User Created Successfully', 'carola@example.com');
      await expectGone(() => page().queryByRole('dialog'));
    },
  );

  testEveryCase(
    'creates a test user while no real money is traded, unless the regular type is chosen',
    async () => {
      const { app, form } = await openForm({ [CREATE]: { user: ann } });
      const type = form.getByLabelText('Account Type');
      await eventually(() => expect(textIn(type)).toBe('test'));
      await app.user.selectOptions(type, 'Regular user (live mode, real money)');
      fillIn(form);
      await app.user.click(form.getByLabelText(/^Username/));
      await app.user.keyboard('{Enter}');
      await expectToast('User Created Successfully');
      expect(app.sent(CREATE)[0]?.body).toMatchObject({ username: 'carol@example.com', isTestUser: false });
    },
  );

  // Requirements: accounts-messages-13
  test("shows the server's refusal at its field, and reports a missing answer", async () => {
    const tooLong = 'Country code must have at most 6 digits';
    const refusal = { message: tooLong, errors: [{ path: 'countryCode', message: tooLong }] };
    const { app, form } = await openForm({ [CREATE]: new Failure(400, refusal) });
    fillIn(form);
    fill(form.getByLabelText('Country Code'), '+1234567');
    await app.user.click(create(form));
    await expectToast('Failed to Create User', tooLong);
    form.getByText(tooLong);

    app.answers[CREATE] = UNREACHABLE;
    fill(form.getByLabelText('Country Code'), '+1');
    await app.user.click(create(form));
    await expectToast('Failed to Create User', 'An error occurred while creating the user account');
    expect(textIn(form.getByLabelText(/^Username/))).toBe('carol@example.com');
  });

  testEveryCase(
    'refuses a weak password at its field, and requires a longer one for an administrator',
    async () => {
      const weak = 'This is one of the most used passwords. Choose another one.';
      const { app, form } = await openForm({
        [CREATE]: new Failure(400, { message: weak, errors: [{ path: 'password', message: weak }] }),
      });
      await eventually(() =>
        expect(descriptionOf(form.getByLabelText(/^Password/))).toBe(
          'At least 6 characters, 12 for an administrator',
        ),
      );
      const administrator = form.getByLabelText('Administrator');
      await app.user.click(administrator);
      fillIn(form, 'eleven char');
      await app.user.click(create(form));
      form.getByText('The password of an administrator must be at least 12 characters');
      await app.user.click(administrator);
      fillIn(form, 'qwerty');
      await app.user.click(create(form));
      await form.findByText(weak);
    },
  );

  // Requirements: screens-users-3
  testEveryCase('asks before a key, a click or a step back discards input', async () => {
    const app = renderApp('/create-client', { [USERS]: usersAnswer(ann) });
    const open = async () => {
      await app.user.click(await page().findByRole('button', { name: 'Create New User' }));
      return await dialog('Create New User');
    };
    let form = await open();
    await eventually(() => expect(document.activeElement).toBe(form.getByLabelText(/^Username/)));
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('dialog'));

    form = await open();
    fill(form.getByLabelText('First Name'), 'Grace');
    const overlay = () => document.querySelector('.mantine-Modal-overlay') ?? document.body;
    const ways: [string, () => unknown][] = [
      ['Escape', () => app.user.keyboard('{Escape}')],
      ['a click outside', () => app.user.click(overlay())],
      ['the close button', () => app.user.click(form.getByRole('button', { name: 'Close dialog' }))],
      ['the button Cancel', () => app.user.click(form.getByRole('button', { name: 'Cancel' }))],
      ['the back button', () => history.back()],
    ];
    for (const [way, leave] of ways) {
      await leave();
      const question = await dialog('You have unsaved changes');
      expect(question.element.textContent, way).toContain(
        'What you have entered here is lost when you leave.',
      );
      await eventually(() =>
        expect(document.activeElement, way).toBe(question.getByRole('button', { name: 'Stay' })),
      );
      await app.user.keyboard('{Escape}');
      await expectGone(() => page().queryByRole('dialog', { name: 'You have unsaved changes' }));
      expect(textIn(form.getByLabelText('First Name')), way).toBe('Grace');
    }
    const leave = async () => {
      const question = await dialog('You have unsaved changes');
      await app.user.click(question.getByRole('button', { name: 'Leave' }));
      await expectGone(() => page().queryByRole('dialog'));
    };
    await app.user.keyboard('{Escape}');
    await leave();
    expect(app.address()).toBe('/create-client');
    form = await open();
    expect(textIn(form.getByLabelText('First Name'))).toBe('');
    fill(form.getByLabelText('First Name'), 'Grace');
    history.back();
    await leave();
  });

  // Requirements: screens-users-3, accounts-messages-13
  test('stays open with disabled buttons while the user is created', async () => {
    const creating = held({ user: ann });
    const { app, form } = await openForm({ [CREATE]: creating.promise });
    fillIn(form);
    await app.user.click(create(form));
    expect(isDisabled(await form.findByRole('button', { name: 'Creating...' }))).toBe(true);
    expect(isDisabled(form.getByRole('button', { name: 'Cancel' }))).toBe(true);
    await app.user.keyboard('{Escape}');
    page().getByRole('dialog', { name: 'Create New User' });
    creating.release();
    await expectToast('User Created Successfully', ann.username);
    await expectGone(() => page().queryByRole('dialog'));
  });
});

describe('the switches of a user', () => {
  const tradingOf = () => page().findByRole('switch', { name: `Active trading of ${ann.username}` });
  const statusOf = (status: string) =>
    page().findByRole('switch', { name: `Status of ${ann.username}: ${status}` });

  // Requirements: screens-users-4, accounts-states-7, accounts-messages-14
  test('change active trading after a warning that live trading is affected', async () => {
    const app = renderApp('/create-client', { [USERS]: usersAnswer(ann), [ofAnn('active-trading')]: {} });
    expect(isChecked(await tradingOf())).toBe(false);
    await app.user.click(await tradingOf());
    let question = await dialog('Enable Active Trading');
    expect(question.element.textContent).toContain(`Enable active trading for ${ann.username}?`);
    expect(question.element.textContent).toContain(
      'This affects live trading: the system will execute positions automatically for this user when signals arrive.',
    );
    await app.user.click(question.getByRole('button', { name: 'Cancel' }));
    await expectGone(() => page().queryByRole('dialog'));
    expect(app.sent(ofAnn('active-trading'))).toEqual([]);

    const trading = {
      ...ann,
      activeTradingEnabled: true,
      settings: { ...ann.settings, activeTrading: true },
    };
    app.answers[ofAnn('active-trading')] = { message: 'Active trading is on' };
    app.answers[USERS] = usersAnswer(trading);
    await app.user.click(await tradingOf());
    question = await dialog('Enable Active Trading');
    await app.user.click(question.getByRole('button', { name: 'Enable Trading' }));
    await expectToast('Active Trading Updated', `${ann.username}: Active trading is on`);
    await eventually(async () => expect(isChecked(await tradingOf())).toBe(true));

    app.answers[ofAnn('active-trading')] = { message: 'Active trading is off' };
    app.answers[USERS] = usersAnswer(ann);
    await app.user.click(await tradingOf());
    question = await dialog('Disable Active Trading');
    expect(question.element.textContent).toContain('all automated execution for this user stops');
    await app.user.click(question.getByRole('button', { name: 'Disable Trading' }));
    await eventually(async () => expect(isChecked(await tradingOf())).toBe(false));
    expect(app.sent(ofAnn('active-trading')).map(({ body }) => body)).toEqual([
      { activeTrading: true },
      { activeTrading: false },
    ]);
  });

  // Requirements: screens-users-4, screens-users-5, accounts-calls-14, accounts-messages-14
  test('deactivate and activate a user after confirmation, and keep the user in the list of all', async () => {
    const inactive = { ...ann, isActive: false, userActive: false };
    const app = renderApp('/create-client', {
      [USERS]: usersAnswer(ann),
      [ofAnn('status')]: { message: 'User is inactive' },
    });
    await app.user.click(await statusOf('Active'));
    let question = await dialog('Deactivate User');
    for (const text of [
      `Deactivate ${ann.username}?`,
      'Inactive users cannot log in',
      'Their data is kept',
    ]) {
      expect(question.element.textContent).toContain(text);
    }
    app.answers[USERS] = usersAnswer(inactive);
    await app.user.click(question.getByRole('button', { name: 'Deactivate User' }));
    await expectToast('User Status Updated', `${ann.username}: User is inactive`);
    await eventually(async () =>
      expect((await rowOf('Users', ann.username)).element.textContent).toContain('Inactive'),
    );

    await app.user.click(await statusOf('Inactive'));
    question = await dialog('Activate User');
    expect(question.element.textContent).toContain('The user will be able to log in again.');
    app.answers[USERS] = usersAnswer(ann);
    app.answers[ofAnn('status')] = { message: 'User is active' };
    await app.user.click(question.getByRole('button', { name: 'Activate User' }));
    await expectToast('User Status Updated', `${ann.username}: User is active`);
    await eventually(async () => expect(isChecked(await statusOf('Active'))).toBe(true));
    expect(app.sent(ofAnn('status')).map(({ body }) => body)).toEqual([
      { isActive: false },
      { isActive: true },
    ]);
  });

  // Requirements: accounts-messages-14
  test('report a refused or unanswered change, and allow a retry', async () => {
    const app = renderApp('/create-client', {
      [USERS]: usersAnswer(ann),
      [ofAnn('status')]: failure(404, 'User not found'),
      [ofAnn('active-trading')]: failure(404, 'User not found'),
    });
    await app.user.click(await statusOf('Active'));
    const deactivating = await dialog('Deactivate User');
    await app.user.click(deactivating.getByRole('button', { name: 'Deactivate User' }));
    await expectToast('Failed to Update User Status', 'User not found');
    await app.user.click(deactivating.getByRole('button', { name: 'Cancel' }));
    await expectGone(() => page().queryByRole('dialog'));
    expect(isChecked(await statusOf('Active'))).toBe(true);

    await app.user.click(await tradingOf());
    const enabling = await dialog('Enable Active Trading');
    await app.user.click(enabling.getByRole('button', { name: 'Enable Trading' }));
    await expectToast('Failed to Update Active Trading', 'User not found');
    app.answers[ofAnn('active-trading')] = UNREACHABLE;
    await app.user.click(enabling.getByRole('button', { name: 'Enable Trading' }));
    await expectToast('Failed to Update Active Trading', 'The change was not saved');

    const changing = held({ message: 'Active trading is on' });
    app.answers[ofAnn('active-trading')] = changing.promise;
    await app.user.click(enabling.getByRole('button', { name: 'Enable Trading' }));
    expect(isDisabled(await enabling.findByRole('button', { name: 'Updating...' }))).toBe(true);
    await app.user.keyboard('{Escape}');
    page().getByRole('dialog', { name: 'Enable Active Trading' });
    changing.release();
    await expectToast('Active Trading Updated');
    await expectGone(() => page().queryByRole('dialog'));
  });

  // Requirements: screens-users-2, accounts-states-6, accounts-limits-1
  test('do not let administrators switch themselves off', async () => {
    const own = userOf({ id: ADMIN.id, username: ADMIN.username, isAdmin: true });
    const app = renderApp('/create-client', { [USERS]: usersAnswer(own) });
    const status = await page().findByRole('switch', {
      name: new RegExp(`^Status of ${ADMIN.username}: Active`),
    });
    expect(isDisabled(status)).toBe(true);
    expect(status.getAttribute('aria-label')).toMatch(/You cannot deactivate your own account$/);
    await app.user.hover(status.closest('[data-tip]') ?? status);
    expect((await page().findByRole('tooltip')).textContent).toBe('You cannot deactivate your own account');
  });
});

describe('the list of users', () => {
  const inactiveToo = () => page().findByRole('switch', { name: 'Include inactive' });

  // Requirements: screens-users-5
  test('shows all users first; a switch hides inactive ones and is remembered', async () => {
    const app = renderApp('/create-client?page=2', {
      [USERS]: pagesOf(12),
      [ofAnn('status')]: { message: 'User is inactive' },
    });
    const asked = () => app.sent(USERS).map(({ query }) => query.includeInactive);
    await eventually(() => expect(rowsOf('Users')).toHaveLength(2));
    expect(isChecked(await inactiveToo())).toBe(true);
    expect(new Set(asked())).toEqual(new Set(['true']));
    await app.user.click(await inactiveToo());
    await eventually(() => expect(app.address()).toBe('/create-client'));
    await eventually(() => expect(asked().at(-1)).toBe('false'));

    app.calls.length = 0;
    app.answers[USERS] = usersAnswer(ann);
    app.reload();
    await rowOf('Users', ann.username);
    expect(isChecked(await inactiveToo())).toBe(false);
    expect(new Set(asked())).toEqual(new Set(['false']));
    await app.user.click(await page().findByRole('switch', { name: `Status of ${ann.username}: Active` }));
    const question = await dialog('Deactivate User');
    app.answers[USERS] = usersAnswer();
    await app.user.click(question.getByRole('button', { name: 'Deactivate User' }));
    await expectToast(
      'User Status Updated',
      `${ann.username}: User is inactive. 'Include inactive' shows the user again.`,
    );
    await eventually(() => expect(rowsOf('Users')).toEqual([]));
  });

  testEveryCase('hides inactive users while the screen is open when storage is forbidden', async () => {
    const app = renderApp('/create-client', { [USERS]: usersAnswer(ann) });
    const forbidden = vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
      throw new DOMException('forbidden', 'SecurityError');
    });
    try {
      await app.user.click(await inactiveToo());
      expect(isChecked(await inactiveToo())).toBe(false);
    } finally {
      forbidden.mockRestore();
    }
  });

  // Requirements: screens-users-6
  test('searches while typing, keeps the search in the URL, and clears it', async () => {
    const app = renderApp('/create-client?page=2', {
      [USERS]: (call: Call) => (call.query.search === '100% nobody_' ? usersAnswer() : pagesOf(11)(call)),
    });
    const field = await page().findByRole('textbox', { name: 'Search users' });
    const searched = () => app.sent(USERS).at(-1)?.query.search;
    await page().findByText('11 users');
    fill(field, 'ZOE');
    await eventually(() => expect(app.address()).toBe('/create-client?search=ZOE'));
    await eventually(() => expect(rowsOf('Users')).toHaveLength(10));
    expect(searched()).toBe('ZOE');
    await app.user.click(page().getByRole('button', { name: 'Next' }));
    await eventually(() => expect(rowsOf('Users')).toHaveLength(1));
    expect(searched()).toBe('ZOE');

    await app.user.click(page().getByRole('button', { name: 'Clear search' }));
    await eventually(() => expect(app.address()).toBe('/create-client'));
    expect(textIn(field)).toBe('');
    expect(document.activeElement).toBe(field);
    fill(field, '+47');
    await eventually(() => expect(searched()).toBe('+47'));
    await app.user.keyboard('{Escape}');
    await eventually(() => expect(app.address()).toBe('/create-client'));

    fill(field, '100% nobody_');
    await page().findByText('No users match "100% nobody_"');
    page().getByText('0 users');
    await app.user.click(page().getByRole('button', { name: 'Show All Users' }));
    await eventually(() => expect(rowsOf('Users')).toHaveLength(10));
    expect(textIn(field)).toBe('');
  });

  testEveryCase('is restored when the browser goes back from a search', async () => {
    const app = renderApp('/admin', { [USERS]: usersAnswer(ann) });
    await app.user.click((await page().findAllByRole('link', { name: /^Users/ })).at(-1) ?? document.body);
    const field = await page().findByRole('textbox', { name: 'Search users' });
    await app.user.type(field, 'ann');
    await eventually(() => expect(app.address()).toBe('/create-client?search=ann'));
    history.back();
    await eventually(() => expect(app.address()).toBe('/create-client'));
    await eventually(() => expect(textIn(field)).toBe(''));
  });

  // Requirements: screens-users-6
  test('is sorted by a header, also by keyboard, and keeps the order in the URL', async () => {
    const app = renderApp('/create-client?search=ann', { [USERS]: usersAnswer(ann) });
    await rowOf('Users', ann.username);
    const header = (name: string) => page().getByRole('columnheader', { name });
    const expectOrder = async (name: string, direction: string, query: string) => {
      await eventually(() => expect(header(name).getAttribute('aria-sort')).toBe(direction));
      expect(app.address()).toBe(`/create-client?search=ann${query}`);
    };
    await expectOrder('Created', 'descending', '');
    expect(header('Username').getAttribute('aria-sort')).toBe('none');
    await app.user.click(scopeOf(header('Name')).getByRole('button'));
    await expectOrder('Name', 'ascending', '&sort=name&direction=asc');
    await eventually(() =>
      expect(app.sent(USERS).at(-1)?.query).toMatchObject({ sort: 'name', direction: 'asc' }),
    );
    await app.user.keyboard('{Enter}');
    await expectOrder('Name', 'descending', '&sort=name&direction=desc');
    scopeOf(header('Active Trading')).getByRole('button').focus();
    await app.user.keyboard(' ');
    await expectOrder('Active Trading', 'descending', '&sort=activeTrading&direction=desc');
    await app.user.click(scopeOf(header('Created')).getByRole('button'));
    await expectOrder('Created', 'descending', '');
    // Phones have no column headers.
    const order = page().getByRole('combobox', { name: 'Order' });
    expect(chosen(order)).toBe('Newest first');
    await app.user.selectOptions(order, 'Name Z to A');
    await expectOrder('Name', 'descending', '&sort=name&direction=desc');
  });

  testEveryCase('keeps the previous rows, faded, while the next page is fetched', async () => {
    const second = held(pagesOf(12)({ key: USERS, query: { page: '2' }, body: undefined }));
    const app = renderApp('/create-client', {
      [USERS]: (call: Call) => (call.query.page === '2' ? second.promise : pagesOf(12)(call)),
    });
    await eventually(() => expect(rowsOf('Users')).toHaveLength(10));
    const pager = scopeOf(page().getByRole('navigation', { name: 'Pagination' }));
    expect(pager.element.textContent).toContain('Page 1 of 2');
    expect(isDisabled(pager.getByRole('button', { name: 'Previous' }))).toBe(true);
    await app.user.click(pager.getByRole('button', { name: 'Next' }));
    const table = page().getByRole('table', { name: 'Users' });
    expect(table.getAttribute('aria-busy')).toBe('true');
    expect(rowsOf('Users')[0]?.textContent).toContain('user-0@example.com');
    second.release();
    await eventually(() => expect(rowsOf('Users')[0]?.textContent).toContain('user-10@example.com'));
    expect(table.hasAttribute('aria-busy')).toBe(false);
    expect(isDisabled(pager.getByRole('button', { name: 'Next' }))).toBe(true);
    expect(app.address()).toBe('/create-client?page=2');
  });

  // Requirements: price-logs-10
  testEveryCase('redirects from a page that no longer exists to the last one', async () => {
    const app = renderApp('/create-client?page=999&search=ann', { [USERS]: pagesOf(2) });
    await eventually(() => expect(app.address()).toBe('/create-client?search=ann'));
    await rowOf('Users', 'user-1@example.com');
  });

  // Requirements: additions-overview-5
  const states = [
    ['halted', 'Halted'],
    ['key_refused', 'Key refused'],
    ['no_key', 'No key'],
    ['off', 'Off'],
    ['trading', 'Trading'],
  ] as const;
  test.for(firstCases(states))(
    'shows the state %s in one word, with its reason as a tip',
    async ([state, word]) => {
      const reason = state === 'halted' ? 'The ETH position has no stop' : null;
      const app = renderApp('/create-client', {
        [USERS]: usersAnswer(ann),
        'GET /api/trading-states': { states: [{ userId: ann.id, state, pausedUntil: null, reason }] },
      });
      await eventually(async () => (await rowOf('Users', ann.username)).getByText(word));
      if (reason === null) return;
      await app.user.hover((await rowOf('Users', ann.username)).getByText(word));
      expect((await page().findByRole('tooltip')).textContent).toBe(reason);
    },
  );

  // Requirements: additions-limits-11
  test('shows that a user is outside the own trading hours, and until when', async () => {
    const state = {
      userId: ann.id,
      state: 'outside_hours',
      pausedUntil: '2999-01-02T12:00:00Z',
      reason: null,
    };
    renderApp('/create-client', {
      [USERS]: usersAnswer(ann),
      'GET /api/trading-states': { states: [state] },
    });
    await eventually(async () =>
      (await rowOf('Users', ann.username)).getByText('Outside trading hours until 2999/01/02 04:00'),
    );
  });

  // Requirements: additions-overview-7
  test('shows what the account of a user is worth, and what was made lately', async () => {
    const worth = { equity: '10250.5', equityAt: '2026-03-04T05:06:07.000Z', net7d: '-12.25' };
    renderApp('/create-client', {
      [USERS]: usersAnswer(ann),
      'GET /api/trading-states': {
        states: [{ userId: ann.id, state: 'trading', pausedUntil: null, reason: null, ...worth }],
      },
    });
    await eventually(async () =>
      expect((await rowOf('Users', ann.username)).element.textContent).toContain('$10,250.50−$12.25 7 d'),
    );
  });

  // Requirements: additions-overview-6
  test('opens the history of a user’s decisions with one click, filtered and paged', async () => {
    const path = `GET /api/users/${ann.id}/decisions`;
    const filled = {
      workflowId: 'w1',
      signalId: 's1',
      at: '2026-03-04T05:06:07.000Z',
      trigger: 'automatic',
      token: 'ETH',
      action: 'buy',
      price: '3000',
      processor: 'Tesla',
      timeframe: '15',
      result: 'filled',
      reason: null,
      filledQuantity: '2.5',
      averagePrice: '3000.5',
    };
    const skipped = {
      ...filled,
      workflowId: 'w2',
      trigger: 'manual',
      result: 'skipped',
      reason: 'The balance is too small',
      filledQuantity: null,
      averagePrice: null,
    };
    const app = renderApp('/create-client', {
      [USERS]: usersAnswer(ann),
      [path]: { decisions: [filled, skipped], total: 21 },
    });
    await app.user.click(await page().findByRole('button', { name: `Decisions on ${ann.username}` }));
    expect(app.address()).toBe(`/create-client?dialog=decisions&user=${ann.id}`);
    const history = await dialog(`Decisions - ${ann.username}`);
    await history.findByText('21 decisions');
    const [first, second] = rowsOf(`Decisions on ${ann.username}`).filter((row) =>
      row.querySelector('th, a'),
    );
    expect(first?.textContent).toContain('Filled 2.5 at $3,000.50');
    expect(second?.textContent).toContain('Skipped (triggered by hand)');
    history.getByText('The balance is too small');
    await app.user.click(history.getByRole('button', { name: 'Next' }));
    await eventually(() => expect(app.sent(path).at(-1)?.query.page).toBe('2'));
    app.answers[path] = { decisions: [], total: 0 };
    await app.user.selectOptions(history.getByRole('combobox', { name: 'Outcome' }), 'not_traded');
    await eventually(() =>
      expect(app.sent(path).at(-1)?.query).toMatchObject({ page: '1', outcome: 'not_traded' }),
    );
    await history.findByText('No decisions match');
    await app.user.click(history.getByRole('button', { name: 'Close dialog' }));
    await eventually(() => expect(app.address()).toBe('/create-client'));
  });

  // Requirements: screens-users-1, accounts-limits-4
  test('copies a shortened id in full, shows how long trading pauses, and links to settings and back', async () => {
    const settings = { ...ann.settings, activeTrading: true, tradingPausedUntil: '2999-01-02T12:00:00Z' };
    const app = renderApp('/create-client', {
      [USERS]: usersAnswer({ ...ann, activeTradingEnabled: true, settings }),
      'GET /api/trading-states': {
        states: [{ userId: ann.id, state: 'paused', pausedUntil: settings.tradingPausedUntil, reason: null }],
      },
      [`GET /api/admin/user/${ann.id}`]: { user: ann },
      [`GET /api/admin/user-settings/${ann.id}`]: { success: true, data: ann.settings },
      [`GET /api/admin/user-settings/${ann.id}/exchange-credentials`]:
        recorded['GET /api/user-settings/exchange-credentials'],
      // What the settings ask for next, if they are still open then.
      [`GET /api/risk-limits/users/${ann.id}`]: PENDING,
      [`GET /api/exit-plans/users/${ann.id}`]: PENDING,
      [`GET /api/admin/user/${ann.id}/statement-fee`]: PENDING,
    });
    await app.user.click(await page().findByRole('button', { name: '0000...bbbb, copy user ID' }));
    await expectToast('Copied!', 'User ID copied to clipboard.');
    expect(await navigator.clipboard.readText()).toBe(ann.id);
    await eventually(async () =>
      (await rowOf('Users', ann.username)).getByText('Paused until 2999/01/02 04:00'),
    );

    await app.user.click(page().getByRole('link', { name: `Settings of ${ann.username}` }));
    await eventually(() => expect(app.address()).toBe(`/settings?userId=${ann.id}`));
    history.back();
    await page().findByText('About users');
    await app.user.click(page().getByRole('link', { name: 'Back to Admin' }));
    await eventually(() => expect(app.address()).toBe('/admin'));
  });

  // Requirements: accounts-messages-20
  test('reports that users cannot be fetched', async () => {
    renderApp('/create-client', { [USERS]: UNREACHABLE });
    expect((await alertOf('Failed to fetch users')).element.textContent).toContain(
      'The server cannot be reached',
    );
  });
});
