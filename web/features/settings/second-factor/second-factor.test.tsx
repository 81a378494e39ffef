// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import { stubPasskeys } from '#test/web/passkeys.ts';
import {
  type Answers,
  type App,
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
  isDisabled,
  page,
  recorded,
  renderApp,
  type Scope,
  savedFiles,
  scopeOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const SESSION = 'GET /api/auth/user';
const FACTORS = 'GET /api/auth/factors';
const START = 'POST /api/auth/totp';
const CONFIRM = 'POST /api/auth/totp/confirm';
const ADD = 'POST /api/auth/passkeys';
const NONE = { totp: null, passkeys: [], recoveryCodesLeft: 0, required: false };
const APP = { ...NONE, totp: { confirmedAt: '2026-01-01T00:00:00.000Z' }, recoveryCodesLeft: 8 };
const LAPTOP = {
  id: 'one',
  name: 'Laptop',
  createdAt: '2026-01-01T12:00:00.000Z',
  lastUsedAt: '2026-02-02T12:00:00.000Z',
};
const PHONE = { ...LAPTOP, id: 'two', name: 'Phone', lastUsedAt: null };
const SETUP = {
  secret: 'JBSWY3DPEHPK3PXP',
  otpauthUrl: 'otpauth://totp/x',
  qrSvg: '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0#"/></svg>',
};
const CODES = Array.from({ length: 10 }, (_, index) => `code-${index}`);

const part = async (name: string): Promise<Scope> => scopeOf(await page().findByRole('region', { name }));
const press = (app: App, where: Pick<Scope, 'getByRole'>, name: string) =>
  app.user.click(where.getByRole('button', { name }));
const closed = () => expectGone(() => page().queryByRole('dialog'));

const open = (factors: object, others: Answers = {}) =>
  renderApp('/settings', { [FACTORS]: factors, ...others }, { user: { isAdmin: false } });

describe('the second factor', () => {
  testEveryCase('is loading, then reports a failure and fetches on the next try', async () => {
    const answer = held(failure(500, 'Not now'));
    const app = open(NONE, { [FACTORS]: answer.promise });
    const card = scopeOf(
      (await page().findByRole('heading', { level: 2, name: 'Second factor' })).closest('section') ??
        document.body,
    );
    await card.findByText('Loading...');
    answer.release();
    await card.findByText('Failed to fetch the second factors');
    app.answers[FACTORS] = { totp: null };
    await press(app, card, 'Try again');
    await card.findByText('The answer of the server cannot be read');
    app.answers[FACTORS] = NONE;
    await press(app, card, 'Try again');
    (await part('Authenticator app')).getByText('Not set up');
    (await part('Passkeys')).getByText('No passkey has been added yet.');
  });

  test('is not asked for on the page of another user, where an administrator can reset it', async () => {
    const RESET = `DELETE /api/admin/user/${ids.user}/factors`;
    const app = renderApp(`/settings?userId=${ids.user}`, { [RESET]: UNREACHABLE });
    await app.user.click(await page().findByRole('button', { name: 'Reset Second Factor' }));
    expect(page().queryByRole('heading', { name: 'Second factor' })).toBeNull();
    const question = await dialog('Reset Second Factor');
    question.getByText(/sessions end at once/);
    await press(app, question, 'Reset Second Factor');
    expect(
      (await question.findByText('The second factor was not reset')).closest('[role=alert]'),
    ).not.toBeNull();
    app.answers[RESET] = { message: 'Reset' };
    await press(app, question, 'Reset Second Factor');
    await closed();
    await expectToast('Second Factor Reset');
  });
});

describe('the authenticator app', () => {
  test('is set up with a QR code, a secret to copy and a code, and gives recovery codes to keep', async () => {
    const app = open(NONE, {
      [START]: SETUP,
      [CONFIRM]: failure(403, 'The code or passkey was not accepted'),
    });
    await press(app, await part('Authenticator app'), 'Set Up Authenticator App');
    const form = await dialog('Set Up Authenticator App');
    const image = form.getByRole('img', { name: /^QR code/ });
    expect(image.getAttribute('src')).toBe(`data:image/svg+xml,${encodeURIComponent(SETUP.qrSvg)}`);
    form.getByText(SETUP.secret);
    await press(app, form, 'Copy the secret');
    expect(await navigator.clipboard.readText()).toBe(SETUP.secret);
    expect(isDisabled(form.getByRole('button', { name: 'Turn On' }))).toBe(true);
    fill(form.getByLabelText(/^Code/), '000000');
    await press(app, form, 'Turn On');
    expect((await form.findByRole('alert')).textContent).toBe('The code or passkey was not accepted');

    app.answers[CONFIRM] = { recoveryCodes: CODES };
    app.answers[FACTORS] = { ...APP, recoveryCodesLeft: 10 };
    fill(form.getByLabelText(/^Code/), '123456');
    await press(app, form, 'Turn On');
    expect(app.sent(CONFIRM).at(-1)?.body).toEqual({ code: '123456' });
    const codes = await dialog('Save Your Recovery Codes');
    const list = scopeOf(codes.getByRole('list', { name: 'Recovery codes' }));
    expect(list.getAllByRole('listitem').map((item) => item.textContent)).toEqual(CODES);
    await press(app, codes, 'Copy');
    expect(await navigator.clipboard.readText()).toBe(`${CODES.join('\n')}\n`);
    await press(app, codes, 'Download');
    expect(savedFiles.map(({ name }) => name)).toEqual(['signal-board-recovery-codes.txt']);
    expect(await savedFiles[0]?.blob.text()).toBe(`${CODES.join('\n')}\n`);
    // Closed by mistake, they would be lost.
    await app.user.keyboard('{Escape}');
    expect(codes.queryByRole('button', { name: 'Close dialog' })).toBeNull();
    await press(app, await dialog('Save Your Recovery Codes'), 'I have saved them');
    await closed();
    (await part('Authenticator app')).getByText('Recovery codes left: 10 of 10');
  });

  testEveryCase('reports that the set-up cannot be started', async () => {
    const app = open(NONE, { [START]: UNREACHABLE });
    await press(app, await part('Authenticator app'), 'Set Up Authenticator App');
    await expectToast('Error', 'The set-up could not be started');
    await closed();
  });

  testEveryCase('shows how many recovery codes are left, and warns when they run out', async () => {
    const app = open(APP);
    (await part('Authenticator app')).getByText('Recovery codes left: 8 of 10');
    expect(page().queryByText(/recovery codes are left/)).toBeNull();
    for (const [left, text] of [
      [2, /^Few recovery codes are left/],
      [0, /^No recovery code is left/],
    ] as const) {
      app.answers[FACTORS] = { ...APP, recoveryCodesLeft: left };
      app.reload();
      await page().findByText(text);
    }
  });

  test('is removed after a question that says what is left', async () => {
    const REMOVE = 'DELETE /api/auth/totp';
    const app = open(APP, { [REMOVE]: failure(500, 'Not now') });
    await press(app, await part('Authenticator app'), 'Remove Authenticator App');
    const question = await dialog('Remove Authenticator App');
    question.getByText('You then sign in with your password alone.');
    await press(app, question, 'Remove');
    await question.findByText('Not now');
    Object.assign(app.answers, { [REMOVE]: { message: 'Removed' }, [FACTORS]: NONE });
    await press(app, question, 'Remove');
    await closed();
    await expectToast('Authenticator App Removed');
    (await part('Authenticator app')).getByText('Not set up');

    app.answers[FACTORS] = { ...APP, passkeys: [LAPTOP] };
    app.reload();
    await press(app, await part('Authenticator app'), 'Remove Authenticator App');
    expect((await dialog('Remove Authenticator App')).queryByText(/password alone/)).toBeNull();
  });
});

describe('passkeys', () => {
  test('are listed with their use, and removed one by one', async () => {
    const REMOVE = `DELETE /api/auth/passkeys/${PHONE.id}`;
    const app = open(
      { ...NONE, passkeys: [LAPTOP, PHONE], required: true },
      { [REMOVE]: { message: 'Removed' } },
    );
    const list = scopeOf((await part('Passkeys')).getByRole('list'));
    const [laptop = '', phone = ''] = list.getAllByRole('listitem').map((item) => item.textContent ?? '');
    expect(laptop).toMatch(/^LaptopAdded 2026\/01\/01.*Last used 2026\/02\/02/);
    expect(phone).toMatch(/^PhoneAdded .*Not used yet/);
    await press(app, list, 'Remove passkey Phone');
    const question = await dialog('Remove Passkey');
    question.getByText(/'Phone' no longer signs you in/);
    expect(question.queryByText(/set up another one/)).toBeNull();
    app.answers[FACTORS] = { ...NONE, passkeys: [LAPTOP], required: true };
    await press(app, question, 'Remove');
    await closed();
    await expectToast('Passkey Removed');
    await eventually(() => expect(page().queryByText('Phone')).toBeNull());
    await press(app, await part('Passkeys'), 'Remove passkey Laptop');
    (await dialog('Remove Passkey')).getByText(/you have to set up another one at once/);
  });

  test('are added with a name', async () => {
    const passkey = stubPasskeys();
    const app = open(NONE, {
      'POST /api/auth/passkeys/options': { challenge: 'AAAA', user: { id: 'AAAA', name: 'ann' } },
      [ADD]: { passkey: LAPTOP },
    });
    await press(app, await part('Passkeys'), 'Add Passkey');
    const form = await dialog('Add Passkey');
    expect(isDisabled(form.getByRole('button', { name: 'Add Passkey' }))).toBe(true);
    fill(form.getByLabelText(/^Name/), ' Laptop ');
    passkey.refuse();
    await press(app, form, 'Add Passkey');
    expect((await form.findByRole('alert')).textContent).toMatch(/cancelled or timed out/);
    passkey.accept();
    app.answers[FACTORS] = { ...NONE, passkeys: [LAPTOP] };
    await press(app, form, 'Add Passkey');
    await closed();
    await expectToast('Passkey Added', "'Laptop' now signs you in.");
    expect(app.sent(ADD)[0]?.body).toMatchObject({
      name: 'Laptop',
      response: { id: 'AQ', type: 'public-key' },
    });
    await (await part('Passkeys')).findByText('Laptop');
  });

  testEveryCase('cannot be added in a browser without them', async () => {
    open(NONE);
    const passkeys = await part('Passkeys');
    passkeys.getByText(/only in a browser that supports them/);
    expect(passkeys.queryByRole('button', { name: 'Add Passkey' })).toBeNull();
  });
});

describe('an administrator who must set up a second factor', () => {
  const must = { ...recorded[SESSION], mustEnrolFactor: true };

  test('sees nothing else, and goes on once the recovery codes are saved', async () => {
    const app = renderApp('/users', {
      [SESSION]: must,
      [FACTORS]: { ...NONE, required: true },
      [START]: SETUP,
      [CONFIRM]: { recoveryCodes: CODES },
    });
    await findTitle('Set up a second factor');
    expect(page().queryByRole('banner')).toBeNull();
    await press(app, await part('Authenticator app'), 'Set Up Authenticator App');
    const form = await dialog('Set Up Authenticator App');
    fill(form.getByLabelText(/^Code/), '123456');
    app.answers[SESSION] = recorded[SESSION];
    app.answers[FACTORS] = { ...APP, required: true };
    await press(app, form, 'Turn On');
    const codes = await dialog('Save Your Recovery Codes');
    expect(app.sent('GET /api/navigation/pages')).toEqual([]);
    await press(app, codes, 'I have saved them');
    await page().findByRole('banner');
    expect(page().queryByText('Set up a second factor')).toBeNull();
  });

  testEveryCase('can sign out, and is asked for a confirmation like everywhere', async () => {
    const app = renderApp('/', {
      [SESSION]: must,
      [FACTORS]: { ...NONE, required: true },
      'POST /api/auth/logout': { message: 'Signed out' },
      [START]: new Failure(403, {
        message: 'Please confirm with your password',
        failureType: 'stepUpRequired',
      }),
    });
    await findTitle('Set up a second factor');
    await press(app, await part('Authenticator app'), 'Set Up Authenticator App');
    await press(app, await dialog('Please confirm with your password'), 'Cancel');
    await expectToast('Error', 'Please confirm with your password');
    app.answers[SESSION] = failure(401, 'Not signed in');
    await press(app, page(), 'Sign Out');
    await findTitle('Welcome Back');
  });

  test('gets there when the server starts to demand it', async () => {
    const app = renderApp('/');
    await findTitle(/^Welcome, /);
    app.answers[SESSION] = must;
    app.answers['GET /api/user-settings'] = new Failure(403, {
      message: 'Set up a second factor first',
      failureType: 'factorRequired',
    });
    await app.user.click(await page().findByRole('link', { name: /^User Settings/ }));
    await findTitle('Set up a second factor');
  });
});
