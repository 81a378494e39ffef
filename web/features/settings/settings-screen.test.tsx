// @vitest-environment jsdom
import { describe, expect, test, vi } from 'vitest';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import {
  type Answers,
  type App,
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
  findTitle,
  held,
  ids,
  isChecked,
  isDisabled,
  page,
  recorded,
  renderApp,
  scopeOf,
  textIn,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const OWN = '/api/user-settings';
const OTHER = `/api/admin/user-settings/${ids.user}`;
const PASSWORD = 'PUT /api/user-settings/change-password';
const other = recorded['GET /api/admin/user/958cbc84-6e40-4b04-b02d-5e40b004c8d9'];
const ORDINARY = { user: { isAdmin: false, firstName: 'Dana', countryCode: '+1', mobileNumber: '5550100' } };

/** Simulates the server's settings: it refuses a write based on an outdated version. */
function storedSettings(path: string, fields: Record<string, unknown> = {}) {
  let version = 1;
  const stored = { data: { ...recorded['GET /api/user-settings'].data, updatedAt: instant(1), ...fields } };
  const change = (changed: object) => {
    version += 1;
    stored.data = { ...stored.data, ...changed, updatedAt: instant(version) };
    return { success: true, data: stored.data };
  };
  const answers: Answers = {
    [`GET ${path}`]: () => ({ success: true, data: stored.data }),
    [`PUT ${path}`]: ({ body }: Call) =>
      (body as { updatedAt: string }).updatedAt === stored.data.updatedAt
        ? change(body as object)
        : new Failure(409, { message: 'These settings were changed elsewhere', data: stored.data }),
  };
  return { stored, change, answers };
}
const instant = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

const method = () => page().findByLabelText('Position sizing method');
const portion = () => page().getByLabelText('Investment portion');
const risk = () => page().getByLabelText('Maximum risk per trade');
const processor = () => page().findByLabelText('Signal processor');
const optionsOf = (select: HTMLElement) =>
  [...select.querySelectorAll('option')].map((option) => option.textContent);
const save = async (app: App) => await app.user.click(page().getByRole('button', { name: 'Save Settings' }));
const discard = () => page().getAllByRole('button', { name: 'Discard' })[0] ?? document.body;
const card = async (title: string) =>
  scopeOf(
    (await page().findByRole('heading', { level: 2, name: title })).closest('section') ?? document.body,
  );

describe('the trading settings', () => {
  // Requirements: screens-user-settings-5, screens-user-settings-7, accounts-states-9, accounts-states-10
  // Requirements: accounts-states-11, accounts-validation-10, accounts-limits-9
  test('show fields as Auto or selectable, depending on the sizing method', async () => {
    const app = renderApp('/settings', {}, ORDINARY);
    const select = async (name: string) => await app.user.selectOptions(await method(), name);
    expect(textIn(await method())).toBe('Technical Analysis');
    expect([isDisabled(portion()), chosen(portion())]).toEqual([false, '5.0%']);
    expect([isDisabled(risk()), ...optionsOf(risk())]).toEqual([true, 'Auto']);
    await select('Risk Management');
    expect([isDisabled(portion()), ...optionsOf(portion())]).toEqual([true, 'Auto']);
    expect([isDisabled(risk()), chosen(risk())]).toEqual([false, '5.0%']);
    await select('Portfolio Allocation');
    expect(optionsOf(portion())).toEqual(['2.0%', '5.0%', '10.0%', '15.0%', '20.0%']);
    expect(optionsOf(risk())).toEqual(['2.0%', '5.0%', '10.0%', '15.0%']);
    expect([isDisabled(portion()), isDisabled(risk())]).toEqual([false, false]);
    for (const name of ['Scalping', 'Smart Position', 'Spot']) {
      expect(isDisabled(page().getByRole('option', { name: `${name} (Coming Soon)` })), name).toBe(true);
    }
  });

  // Requirements: screens-user-settings-5, accounts-fields-5, accounts-validation-8, accounts-messages-10
  test('are saved with a toast and Auto as null, or discarded', async () => {
    const { answers, stored } = storedSettings(OWN);
    const app = renderApp('/settings', answers, ORDINARY);
    await app.user.selectOptions(await method(), 'Portfolio Allocation');
    for (const [label, choice] of [
      ['Investment portion', '15.0%'],
      ['Maximum risk per trade', '10.0%'],
      ['Exchange platform', 'Bybit'],
      ['Signal processor', 'UD Bot'],
      ['Signal timeframe', '1m'],
    ] as const) {
      await app.user.selectOptions(page().getByLabelText(label), choice);
    }
    await save(app);
    await expectToast('Settings Updated', 'Your settings have been saved successfully.');
    expect(stored.data).toMatchObject({
      exchangePlatform: 'Bybit',
      signalProcessor: 'UD Bot',
      signalTimeframe: '1m',
    });

    await app.user.selectOptions(await method(), 'Risk Management');
    await app.user.click(discard());
    expect(textIn(await method())).toBe('Portfolio Allocation');
    expect([chosen(portion()), chosen(risk())]).toEqual(['15.0%', '10.0%']);
    await app.user.selectOptions(await method(), 'Risk Management');
    await save(app);
    await eventually(() => expect(stored.data.positionSizingMethod).toBe('Risk Management'));
    expect(stored.data.investmentPortion).toBeNull();
    expect(stored.data.maximumRiskPerTrade).toMatch(/^0\.10?$/);
  });

  for (const [name, missing] of [
    ['absent', undefined],
    ['null', null],
  ] as const) {
    // Requirements: accounts-limits-7
    testEveryCase(`show and save defaults for fields that are ${name} in the answer`, async () => {
      const none = { signalTimeframe: missing, signalProcessor: missing, exchangePlatform: missing };
      const { answers } = storedSettings(OWN, none);
      const app = renderApp('/settings', answers, ORDINARY);
      expect(textIn(await processor())).toBe('Tesla');
      expect(textIn(page().getByLabelText('Signal timeframe'))).toBe('Any');
      expect(textIn(page().getByLabelText('Exchange platform'))).toBe('Bitget');
      expect((await card('Exchange Connection')).element.textContent).toContain('Bitget');
      await eventually(() =>
        expect(
          optionsOf(page().getByLabelText('Signal timeframe')).filter((option) => option === 'Any'),
        ).toHaveLength(1),
      );
      expect(isDisabled(discard())).toBe(true);
      await app.user.selectOptions(await processor(), 'Any');
      await save(app);
      await expectToast('Settings Updated');
      expect(app.sent(`PUT ${OWN}`)[0]?.body).toMatchObject({
        signalTimeframe: 'Any',
        signalProcessor: 'Any',
        exchangePlatform: 'Bitget',
      });
    });
  }

  // Requirements: accounts-messages-3, accounts-messages-10
  test('keep the chosen values when a save is refused or unanswered', async () => {
    const app = renderApp('/settings', { [`PUT ${OWN}`]: UNREACHABLE }, ORDINARY);
    await app.user.selectOptions(await method(), 'Portfolio Allocation');
    await save(app);
    await expectToast('Error', 'Failed to update settings');
    app.answers[`PUT ${OWN}`] = failure(404, 'User settings not found');
    await save(app);
    await expectToast('Error', 'User settings not found');
    expect(textIn(await method())).toBe('Portfolio Allocation');
  });

  // Requirements: screens-user-settings-8
  const calls = [
    [`GET ${OWN}`, 'Failed to fetch settings', '/settings'],
    [`GET ${OWN}/signal-processors`, 'Failed to fetch processors', '/settings'],
    [`GET ${OWN}/signal-timeframes`, 'Failed to fetch timeframes', '/settings'],
    [`GET /api/admin/user/${ids.user}`, 'Failed to fetch user', `/settings?userId=${ids.user}`],
    [`GET ${OTHER}`, 'Failed to fetch settings', `/settings?userId=${ids.user}`],
  ] as const;
  test.for(oneOfEachKind(calls, ([call]) => call !== `GET ${OTHER}`))(
    'report when %s fails, and fetch it on the next try',
    async ([call, title, path]) => {
      const app = renderApp(path, { [call]: failure(404, 'Not found') });
      const failed = await alertOf(title);
      expect(failed.element.textContent).toContain('404: {"message":"Not found"}');
      delete app.answers[call];
      await app.user.click(failed.getByRole('button', { name: 'Try again' }));
      await expectGone(() => page().queryByText(title));
      await eventually(() => expect(optionsOf(page().getByLabelText('Signal timeframe'))).toContain('2m'));
    },
  );
});

// Requirements: screens-user-settings-3, screens-user-settings-5, screens-user-settings-6
// Requirements: accounts-messages-12, trading-validation-7
test('explains the locked field, and shows the account and copies its id', async () => {
  const app = renderApp('/settings', {}, ORDINARY);
  const { id, username } = recorded['GET /api/auth/user'].user;
  const locked = await page().findByLabelText('Stop loss / take profit calculation');
  expect(isDisabled(locked)).toBe(true);
  expect(optionsOf(locked)).toEqual(['Futures_Limit_Classic', 'Futures_Limit_Smart (Coming Soon)']);
  page().getByText('This parameter is reserved for future development and cannot be modified');
  for (const [name, value] of Object.entries({
    'User ID': id,
    Username: username,
    Administrator: 'No',
    'First name': 'Dana',
    'Last name': 'Not provided',
    Mobile: '+1 5550100',
  })) {
    expect(page().getByText(name).nextElementSibling?.textContent, name).toContain(value);
  }
  const copy = page().getByRole('button', { name: 'Copy user ID' });
  await app.user.click(copy);
  await expectToast('Copied!', 'User ID copied to clipboard.');
  expect(await navigator.clipboard.readText()).toBe(id);
  vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('not allowed'));
  document.execCommand = () => false;
  await app.user.click(copy);
  await expectToast('Error', 'Failed to copy to clipboard');
});

// Requirements: screens-user-settings-1, screens-user-settings-4, screens-user-settings-5
// Requirements: accounts-messages-10
test("warns an administrator who edits another user's settings", async () => {
  const { answers } = storedSettings(OTHER);
  const app = renderApp(`/settings?userId=${ids.user}`, answers);
  await findTitle(`User Settings - ${other.user.username}`);
  await page().findByText("Admin Mode: You are editing another user's settings");
  expect(page().queryByRole('button', { name: 'Change Password' })).toBeNull();
  expect(page().queryByText('Active trading')).toBeNull();
  await app.user.selectOptions(await method(), 'Risk Management');
  await save(app);
  await expectToast('Settings Updated', `${other.user.username}'s settings have been updated successfully.`);
});

describe('the password dialog', () => {
  const open = async (answers: Answers) => {
    const app = renderApp('/settings', answers, ORDINARY);
    await app.user.click(await page().findByRole('button', { name: 'Change Password' }));
    const form = await dialog('Change Password');
    const enter = (current: string, next: string, confirmed = next) => {
      fill(form.getByLabelText('Current password'), current);
      fill(form.getByLabelText('New password'), next);
      fill(form.getByLabelText('Confirm new password'), confirmed);
    };
    const submit = async () => await app.user.click(form.getByRole('button', { name: 'Change Password' }));
    return { app, form, enter, submit };
  };

  // Requirements: screens-user-settings-4, accounts-validation-3, accounts-messages-11
  test("reports missing fields, the server's refusal and a missing answer", async () => {
    const { app, form, enter, submit } = await open({ [PASSWORD]: failure(403, 'Invalid password') });
    const field = form.getByLabelText('New password');
    expect(descriptionOf(field)).toBe('At least 6 characters, 12 in live mode');
    enter('', 'short', 'other');
    await submit();
    form.getByText('Current password is required');
    form.getByText('Password must be at least 6 characters');
    form.getByText('Passwords do not match');

    enter('not the password', 'second password');
    await submit();
    await expectToast('Error', 'Invalid password');
    const common = 'This is one of the most used passwords. Choose another one.';
    app.answers[PASSWORD] = new Failure(400, {
      message: common,
      errors: [{ path: 'newPassword', message: common }],
    });
    enter('first password', '123456');
    await submit();
    await form.findByText(common);
    expect(descriptionOf(field)).toContain(common);
    app.answers[PASSWORD] = UNREACHABLE;
    await submit();
    await expectToast('Error', 'Failed to change password');
    expect(textIn(form.getByLabelText('Current password'))).toBe('first password');
  });

  // Requirements: accounts-messages-11
  testEveryCase(
    'stays open while the password is being changed, and reports the outcome on any screen',
    async () => {
      const refusing = held(failure(403, 'Invalid password'));
      const { app, form, enter, submit } = await open({ [PASSWORD]: refusing.promise });
      enter('not the password', 'second password');
      await submit();
      expect(isDisabled(await form.findByRole('button', { name: 'Changing...' }))).toBe(true);
      await app.user.keyboard('{Escape}');
      await app.user.click(form.getByRole('button', { name: 'Close dialog' }));
      page().getByRole('dialog', { name: 'Change Password' });
      expect(page().queryByRole('dialog', { name: 'You have unsaved changes' })).toBeNull();
      refusing.release();
      await expectToast('Error', 'Invalid password');

      const changing = held({ message: 'Changed' });
      app.answers[PASSWORD] = changing.promise;
      await submit();
      await form.findByRole('button', { name: 'Changing...' });
      history.back();
      const question = await dialog('You have unsaved changes');
      await app.user.click(question.getByRole('button', { name: 'Leave' }));
      changing.release();
      await expectToast('Password Changed', 'Your password has been updated successfully.');
      await expectGone(() => page().queryByRole('dialog'));
    },
  );
});

// Requirements: results-statements-7
test('an administrator sees and sets the performance fee of a user, and a value out of range is not sent', async () => {
  const FEE = `/api/admin/user/${ids.user}/statement-fee`;
  let percent = '0';
  const app = renderApp(`/settings?userId=${ids.user}`, {
    [`GET ${FEE}`]: () => ({ percent }),
    [`PUT ${FEE}`]: ({ body }: Call) => {
      ({ percent } = body as { percent: string });
      return { percent };
    },
  });
  await (await card('Performance fee')).findByText('No fee');
  await app.user.click((await card('Performance fee')).getByRole('button', { name: 'Edit fee' }));
  const form = await dialog(/^Performance fee: /);
  fill(form.getByLabelText('Percent of new profit'), '100.5');
  await app.user.click(form.getByRole('button', { name: 'Save' }));
  await form.findByText('A number from 0 to 100 with at most four decimals');
  fill(form.getByLabelText('Percent of new profit'), '12.5');
  await app.user.click(form.getByRole('button', { name: 'Save' }));
  await expectToast('Fee Saved', /: 12\.5 % in statements\.$/);
  await (await card('Performance fee')).findByText(/^12\.5 % of what a month's end is above/);
  expect(app.calls.filter(({ key }) => key === `PUT ${FEE}`).map(({ body }) => body)).toEqual([
    { percent: '12.5' },
  ]);
});

describe('settings changed elsewhere', () => {
  const automation = () => card('Automation');
  const saveAutomation = async (app: App) =>
    await app.user.click((await automation()).getByRole('button', { name: 'Save Automation' }));
  const orderSet = async () => (await automation()).getByLabelText('Trade order set');
  const notice = () => alertOf('These settings were changed elsewhere:');
  const noNotice = () => expectGone(() => page().queryByText(/These settings were changed elsewhere:/));

  // Requirements: screens-user-settings-10
  test('refuse a save until the user chooses between both versions', async () => {
    const { answers, change, stored } = storedSettings(OTHER);
    const app = renderApp(`/settings?userId=${ids.user}`, answers);
    await app.user.selectOptions(await orderSet(), 'B');
    change({ tradingPausedUntil: '2099-03-03T20:06:00.000Z', isTestUser: false, oppositeSignal: 'skip' });
    await saveAutomation(app);
    await expectToast('Error', 'These settings were changed elsewhere');
    for (const text of [
      'Test user (now off)',
      'Trading paused until (now 2099-03-03',
      'Opposite signal (now Skip)',
    ]) {
      expect((await notice()).element.textContent).toContain(text);
    }
    expect(textIn(await orderSet())).toBe('B');
    const button = (await automation()).getByRole('button', { name: 'Save Automation' });
    expect(isDisabled(button)).toBe(true);

    await app.user.click((await notice()).getByRole('button', { name: 'Take theirs' }));
    await noNotice();
    expect(isChecked((await automation()).getByRole('switch', { name: /^Test user/ }))).toBe(false);
    expect(isChecked((await automation()).getByRole('radio', { name: 'Skip' }))).toBe(true);
    expect(textIn(await orderSet())).toBe('M');

    await app.user.selectOptions(await orderSet(), 'C');
    change({ tradeOrderSet: 'D' });
    await saveAutomation(app);
    expect((await notice()).element.textContent).toContain('Trade order set (now D)');
    await app.user.click((await notice()).getByRole('button', { name: 'Keep mine' }));
    await noNotice();
    expect(textIn(await orderSet())).toBe('C');
    await saveAutomation(app);
    await expectToast('Settings Updated');
    expect(stored.data).toMatchObject({ tradeOrderSet: 'C', oppositeSignal: 'skip', isTestUser: false });
  });

  // Requirements: screens-user-settings-10
  testEveryCase('do not block a form that lacks the changed fields', async () => {
    const { answers, change, stored } = storedSettings(OTHER);
    const app = renderApp(`/settings?userId=${ids.user}`, answers);
    await app.user.selectOptions(await processor(), 'UD Bot');
    await app.user.selectOptions(await orderSet(), 'B');
    change({ oppositeSignal: 'skip' });
    await save(app);
    await expectToast('Settings Updated');
    expect(stored.data).toMatchObject({
      signalProcessor: 'UD Bot',
      oppositeSignal: 'skip',
      tradeOrderSet: 'M',
    });
    expect((await notice()).element.textContent).toContain('Opposite signal (now Skip)');
    expect(textIn(await orderSet())).toBe('B');
  });
});

// Requirements: accounts-messages-15
test.for([
  [true, 'Deactivate', 'Failed to Deactivate User'],
  [false, 'Reactivate', 'Failed to Reactivate User'],
] as const)(
  'reports a status change (active: %s) that is refused or unanswered, and allows another try',
  async ([isActive, name, title]) => {
    const change = `PATCH /api/admin/users/${ids.user}/${name.toLowerCase()}`;
    const user = { ...other.user, isActive, userActive: isActive };
    const app = renderApp(`/settings?userId=${ids.user}`, {
      [`GET /api/admin/user/${ids.user}`]: { user },
      [change]: failure(403, 'Administrators only'),
    });
    const status = await card('Account status');
    await app.user.click(status.getByRole('button', { name }));
    const question = await dialog(`${name} User`);
    for (const text of ['Administrators only', 'The change was not saved']) {
      await app.user.click(await question.findByRole('button', { name: `${name} User` }));
      await expectToast(title, text);
      await alertOf(text);
      app.answers[change] = UNREACHABLE;
    }
    await app.user.click(question.getByRole('button', { name: 'Cancel' }));
    await expectGone(() => page().queryByRole('dialog'));
    status.getByText(isActive ? 'Active' : 'Inactive');
  },
);

// Requirements: users-6
testEveryCase('keeps the typed exchange credentials when a request is refused or unanswered', async () => {
  const CREDENTIALS = '/api/user-settings/exchange-credentials';
  const text = 'API key must be plain letters, digits and signs without spaces';
  const stored = {
    ...recorded['GET /api/user-settings/exchange-credentials'],
    connected: true,
    state: 'ready',
    apiKeyHint: '4711',
    callingAddresses: ['frankfurt-1', 'frankfurt-2'],
  };
  const state = held(recorded['GET /api/user-settings/exchange-credentials']);
  const app = renderApp(
    '/settings',
    {
      [`GET ${CREDENTIALS}`]: state.promise,
      [`PUT ${CREDENTIALS}`]: new Failure(400, {
        message: text,
        errors: [{ path: 'apiKey', message: text }],
      }),
      [`POST ${CREDENTIALS}/test`]: failure(429, 'Too many requests'),
      [`DELETE ${CREDENTIALS}`]: UNREACHABLE,
    },
    ORDINARY,
  );
  const { findByLabelText, findByText, getByLabelText, getByRole } = await card('Exchange Connection');
  const press = async (name: string) => await app.user.click(getByRole('button', { name }));
  fill(await findByLabelText('API key'), 'with a space');
  fill(getByLabelText('API secret'), 'secret');
  fill(getByLabelText('Passphrase'), 'phrase');
  // The state moves the buttons when it arrives.
  for (const name of ['Save Connection', 'Test Connection']) {
    expect(isDisabled(getByRole('button', { name }))).toBe(true);
  }
  state.release();
  await eventually(() => expect(isDisabled(getByRole('button', { name: 'Save Connection' }))).toBe(false));
  await press('Save Connection');
  await expectToast('Error', text);
  expect((await alertOf('Not saved')).element.textContent).toContain(text);
  expect(descriptionOf(getByLabelText('API key'))).toContain(text);
  app.answers[`PUT ${CREDENTIALS}`] = UNREACHABLE;
  await press('Save Connection');
  await expectToast('Error', 'Failed to save the exchange connection');
  await press('Test Connection');
  await expectToast('Error', 'Too many requests');
  await alertOf('Not tested');
  app.answers[`POST ${CREDENTIALS}/test`] = UNREACHABLE;
  await press('Test Connection');
  await expectToast('Error', 'Failed to test the exchange connection');
  app.answers[`GET ${CREDENTIALS}`] = UNREACHABLE;
  await app.user.selectOptions(getByLabelText('Exchange'), 'Bybit');
  const failed = await alertOf('Failed to fetch the exchange connection');
  expect(textIn(getByLabelText('API secret'))).toBe('secret');
  app.answers[`GET ${CREDENTIALS}`] = stored;
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await eventually(() => expect(getByRole('button', { name: 'Remove' })).not.toBeNull());
  await press('Remove');
  await findByText(/called from the addresses frankfurt-1 and frankfurt-2\. .* allow each of them\.$/);
  const question = await dialog('Remove Exchange Connection');
  await app.user.click(question.getByRole('button', { name: 'Remove' }));
  await expectToast('Error', 'Failed to remove the exchange connection');
  await alertOf('Not removed');
});

describe('unsaved changes', () => {
  const question = () => dialog('You have unsaved changes');
  const answer = async (app: App, name: 'Stay' | 'Leave') => {
    await app.user.click((await question()).getByRole('button', { name }));
    await expectGone(() => page().queryByRole('dialog'));
  };
  const openChanged = async (path = '/settings') => {
    const app = renderApp('/', storedSettings(OWN).answers);
    await findTitle(/^Welcome, /);
    await app.user.click(page().getByRole('link', { name: /^User Settings/ }));
    await app.user.selectOptions(await processor(), 'UD Bot');
    expect(app.address()).toBe(path);
    return app;
  };
  const home = async (app: App) => await app.user.click(page().getByRole('link', { name: 'Signal Board' }));

  // Requirements: screens-user-settings-9
  test('are confirmed before following a link, going back and signing out', async () => {
    const LOGOUT = 'POST /api/auth/logout';
    const app = await openChanged();
    const webhook = () => page().getAllByRole('link', { name: 'Webhook' })[0] as HTMLElement;
    await app.user.click(webhook());
    const stay = (await question()).getByRole('button', { name: 'Stay' });
    await eventually(() => expect(document.activeElement).toBe(stay));
    await app.user.keyboard('{Enter}');
    await expectGone(() => page().queryByRole('dialog'));
    await app.user.click(webhook());
    await question();
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('dialog'));
    history.back();
    await answer(app, 'Stay');
    expect(app.address()).toBe('/settings');
    expect(textIn(await processor())).toBe('UD Bot');

    const signOut = async () => {
      await app.user.click(
        page().getByRole('button', { name: recorded['GET /api/auth/user'].user.username }),
      );
      await app.user.click(await page().findByRole('menuitem', { name: 'Sign Out' }));
    };
    await signOut();
    await answer(app, 'Stay');
    expect(app.sent(LOGOUT)).toEqual([]);
    expect(textIn(await processor())).toBe('UD Bot');
    history.back();
    await answer(app, 'Leave');
    await findTitle(/^Welcome, /);
    expect(app.address()).toBe('/');

    await app.user.click(page().getByRole('link', { name: /^User Settings/ }));
    expect(textIn(await processor())).toBe('Tesla');
    await app.user.selectOptions(await processor(), 'UD Bot');
    app.answers[LOGOUT] = { message: 'Signed out' };
    app.answers['GET /api/auth/user'] = failure(401, 'Not signed in');
    await signOut();
    await app.user.click((await question()).getByRole('button', { name: 'Leave' }));
    await findTitle('Welcome Back');
    expect(app.sent(LOGOUT)).toHaveLength(1);
  });

  testEveryCase('do not block leaving once saved or discarded', async () => {
    const app = await openChanged();
    await app.user.click(discard());
    await home(app);
    await findTitle(/^Welcome, /);
    await app.user.click(page().getByRole('link', { name: /^User Settings/ }));
    await app.user.selectOptions(await processor(), 'UD Bot');
    await save(app);
    await expectToast('Settings Updated');
    await home(app);
    await findTitle(/^Welcome, /);
  });

  testEveryCase(
    "are confirmed before an administrator switches from another user's settings to their own",
    async () => {
      const app = renderApp(`/settings?userId=${ids.user}`);
      const orderSet = async () => (await card('Automation')).getByLabelText('Trade order set');
      await app.user.selectOptions(await orderSet(), 'B');
      const own = async () => {
        await app.user.click(
          page().getByRole('button', { name: recorded['GET /api/auth/user'].user.username }),
        );
        await app.user.click(await page().findByRole('menuitem', { name: 'Settings' }));
      };
      await own();
      await answer(app, 'Stay');
      expect(textIn(await orderSet())).toBe('B');
      await own();
      await answer(app, 'Leave');
      await findTitle('User Settings');
      expect(app.address()).toBe('/settings');
    },
  );

  testEveryCase('include a typed secret, and are not confirmed when a dialog opens', async () => {
    const app = renderApp('/settings', {}, ORDINARY);
    const secret = async () => (await card('Exchange Connection')).findByLabelText('API secret');
    fill(await secret(), 'half a secret');
    await app.user.click(page().getByRole('button', { name: 'Change Password' }));
    await dialog('Change Password');
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('dialog'));
    await home(app);
    await answer(app, 'Stay');
    expect(textIn(await secret())).toBe('half a secret');
    fill(await secret(), '');
    await home(app);
    await findTitle(/^Welcome, /);
  });
});
