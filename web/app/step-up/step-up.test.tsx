// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import { stubPasskeys } from '#test/web/passkeys.ts';
import {
  type Answers,
  type App,
  alertOf,
  dialog,
  eventually,
  expectGone,
  expectToast,
  Failure,
  failure,
  fill,
  held,
  isDisabled,
  page,
  renderApp,
  type Scope,
  textIn,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const STEP_UP = 'POST /api/auth/step-up';
const FACTORS = 'GET /api/auth/factors';
const SAVE = 'PUT /api/user-settings/exchange-credentials';
const MESSAGE = 'Please confirm with your password';
const REFUSAL = new Failure(403, { message: MESSAGE, failureType: 'stepUpRequired' });
const NO_FACTORS = { totp: null, passkeys: [], recoveryCodesLeft: 0, required: false };
const SAVED = {
  exchangePlatform: 'Bitget',
  connected: true,
  state: 'ready',
  problem: null,
  apiKeyHint: 'key1',
  updatedAt: '2026-01-01T00:00:00.000Z',
  test: null,
};

/** A server that saves a key only after a confirmation with the right password, code or passkey. */
function guarded(others: Answers = {}): Answers {
  let isConfirmed = false;
  return {
    [SAVE]: () => (isConfirmed ? SAVED : REFUSAL),
    [FACTORS]: NO_FACTORS,
    [STEP_UP]: ({ body }: { body: { password?: string; code?: string; assertion?: unknown } }) => {
      isConfirmed = body.password === 'first password' || body.code === '123456' || 'assertion' in body;
      return isConfirmed
        ? { until: '2026-01-01T00:05:00.000Z' }
        : failure(403, body.code ? 'The code or passkey was not accepted' : 'Invalid password');
    },
    ...others,
  };
}

const KEYS = [
  [/^API key$/, 'the key'],
  [/^API secret$/, 'the secret'],
  [/^Passphrase/, 'the passphrase'],
] as const;

/** Types an exchange key and saves it, which the server refuses. */
async function begin(answers: Answers): Promise<{ app: App; question: Scope }> {
  const app = renderApp('/settings', answers, { user: { isAdmin: false } });
  await page().findByLabelText(/^API key$/);
  for (const [label, text] of KEYS) fill(page().getByLabelText(label), text);
  await page().findByText('No API key is stored for this exchange.');
  await app.user.click(page().getByRole('button', { name: 'Save Connection' }));
  return { app, question: await dialog(MESSAGE) };
}

const typed = () => KEYS.map(([label]) => textIn(page().getByLabelText(label)));
const closed = () => expectGone(() => page().queryByRole('dialog'));
const press = (app: App, question: Scope, name: string) =>
  app.user.click(question.getByRole('button', { name }));

describe('a call that needs a confirmation', () => {
  test('is repeated once after the right password', async () => {
    const { app, question } = await begin(guarded());
    expect(isDisabled(question.getByRole('button', { name: 'Confirm' }))).toBe(true);
    await eventually(() => expect(document.activeElement).toBe(question.getByLabelText(/^Password/)));
    await app.user.keyboard('first password{Enter}');
    await expectToast('Exchange Connection Saved');
    await closed();
    expect(app.sent(STEP_UP).map(({ body }) => body)).toEqual([{ password: 'first password' }]);
    const saves = app.sent(SAVE);
    expect(saves).toHaveLength(2);
    expect(saves[1]?.body).toEqual(saves[0]?.body);
    expect(saves[1]?.body).toMatchObject({ apiKey: 'the key' });
  });

  test('fails with the original refusal when the user cancels, and the form keeps its text', async () => {
    const { app, question } = await begin(guarded());
    await press(app, question, 'Cancel');
    await closed();
    await alertOf(MESSAGE);
    expect(typed()).toEqual(KEYS.map(([, text]) => text));
    expect([app.sent(SAVE).length, app.sent(STEP_UP).length]).toEqual([1, 0]);

    // Asks again at the next try.
    await app.user.click(page().getByRole('button', { name: 'Save Connection' }));
    await dialog(MESSAGE);
    await app.user.keyboard('{Escape}');
    await closed();
    expect(typed()).toEqual(KEYS.map(([, text]) => text));
  });

  testEveryCase('is not repeated a second time', async () => {
    const { app, question } = await begin(guarded({ [SAVE]: REFUSAL }));
    fill(question.getByLabelText(/^Password/), 'first password');
    await press(app, question, 'Confirm');
    await closed();
    await alertOf(MESSAGE);
    expect(app.sent(SAVE)).toHaveLength(2);
  });
});

describe('the confirmation', () => {
  test('shows why it was refused and allows another try', async () => {
    const { app, question } = await begin(guarded());
    const field = question.getByLabelText(/^Password/);
    fill(field, 'wrong');
    await press(app, question, 'Confirm');
    expect((await question.findByRole('alert')).textContent).toBe('Invalid password');
    expect(field.getAttribute('aria-invalid')).toBe('true');

    const confirmed = app.answers[STEP_UP];
    for (const [answer, text] of [
      [
        failure(429, 'Too many failed attempts. Try again in 3 minutes.'),
        'Too many failed attempts. Try again in 3 minutes.',
      ],
      [UNREACHABLE, 'The confirmation failed'],
    ]) {
      app.answers[STEP_UP] = answer;
      await press(app, question, 'Confirm');
      await eventually(() => expect(question.getByRole('alert').textContent).toBe(text));
    }
    app.answers[STEP_UP] = confirmed;
    fill(field, 'first password');
    await press(app, question, 'Confirm');
    await closed();
    await expectToast('Exchange Connection Saved');
  });

  testEveryCase('stays open while the password is being verified', async () => {
    const answer = held({ until: '2026-01-01T00:05:00.000Z' });
    const { app, question } = await begin(guarded({ [STEP_UP]: answer.promise }));
    fill(question.getByLabelText(/^Password/), 'first password');
    await press(app, question, 'Confirm');
    expect(isDisabled(await question.findByRole('button', { name: 'Verifying...' }))).toBe(true);
    await app.user.keyboard('{Escape}');
    await dialog(MESSAGE);
    answer.release();
    await closed();
  });

  test('takes a code only from a user with an authenticator app', async () => {
    const { app, question } = await begin(
      guarded({ [FACTORS]: { ...NO_FACTORS, totp: { confirmedAt: '2026-01-01T00:00:00.000Z' } } }),
    );
    expect(question.queryByRole('button', { name: 'Use a passkey' })).toBeNull();
    await app.user.click(await question.findByRole('button', { name: 'Use a code' }));
    const code = question.getByLabelText(/^Code/);
    expect(code.getAttribute('autocomplete')).toBe('one-time-code');
    await eventually(() => expect(document.activeElement).toBe(code));
    await dialog('Please confirm with a code');
    await app.user.keyboard('000000{Enter}');
    expect((await question.findByRole('alert')).textContent).toBe('The code or passkey was not accepted');
    // Another way starts without the refusal of this one.
    await press(app, question, 'Use the password');
    expect(question.queryByRole('alert')).toBeNull();
    await press(app, question, 'Use a code');
    await app.user.keyboard('123456{Enter}');
    await closed();
    expect(app.sent(STEP_UP).at(-1)?.body).toEqual({ code: '123456' });
    await expectToast('Exchange Connection Saved');
  });

  test('takes a passkey', async () => {
    const passkey = stubPasskeys();
    const own = { id: 'one', name: 'Laptop', createdAt: '2026-01-01T00:00:00.000Z', lastUsedAt: null };
    const { app, question } = await begin(
      guarded({
        [FACTORS]: { ...NO_FACTORS, passkeys: [own] },
        'POST /api/auth/step-up/options': { challenge: 'AAAA' },
      }),
    );
    passkey.refuse();
    await app.user.click(await question.findByRole('button', { name: 'Use a passkey' }));
    expect((await question.findByRole('alert')).textContent).toMatch(/cancelled or timed out/);
    passkey.accept();
    await press(app, question, 'Use a passkey');
    await closed();
    expect(app.sent(STEP_UP)[0]?.body).toMatchObject({ assertion: { id: 'AQ', type: 'public-key' } });
    await expectToast('Exchange Connection Saved');
  });
});

test('calls that are refused at once share one confirmation, and a later one asks again', async () => {
  const { requestJson } = await import('#web/lib/api-client.ts');
  const app = renderApp('/', guarded({ 'POST /api/one': REFUSAL, 'POST /api/two': REFUSAL }));
  await page().findByRole('heading', { level: 1, name: /^Welcome, / });
  const late = held(REFUSAL);
  app.answers['POST /api/late'] = late.promise;
  const post = (path: string) => requestJson<{ done: boolean }>(path, { method: 'POST' });
  const calls = Promise.all(['/api/one', '/api/two', '/api/late'].map(post));
  const question = await dialog(MESSAGE);
  for (const path of ['one', 'two']) app.answers[`POST /api/${path}`] = { done: true };
  fill(question.getByLabelText(/^Password/), 'first password');
  await press(app, question, 'Confirm');
  await closed();
  // Sent before the confirmation, refused after it.
  app.answers['POST /api/late'] = { done: true };
  late.release();
  expect(await calls).toEqual([{ done: true }, { done: true }, { done: true }]);
  expect(app.sent(STEP_UP)).toHaveLength(1);

  app.answers['POST /api/one'] = REFUSAL;
  const again = expect(post('/api/one')).rejects.toThrow(MESSAGE);
  await press(app, await dialog(MESSAGE), 'Cancel');
  await again;
});

testEveryCase('Escape closes the confirmation and not the dialog below it', async () => {
  const { requestJson } = await import('#web/lib/api-client.ts');
  const app = renderApp('/settings?dialog=password', guarded({ 'POST /api/one': REFUSAL }));
  await dialog('Change Password');
  const call = expect(requestJson('/api/one', { method: 'POST' })).rejects.toThrow(MESSAGE);
  await dialog(MESSAGE);
  await app.user.keyboard('{Escape}');
  await call;
  await expectGone(() => page().queryByRole('dialog', { name: MESSAGE }));
  await dialog('Change Password');
  await app.user.keyboard('{Escape}');
  await closed();
});

testEveryCase('a confirmation asked for above a form dialog keeps what was typed below it', async () => {
  const CREATE = 'POST /api/admin/create-client';
  const app = renderApp('/create-client?dialog=create', guarded({ [CREATE]: REFUSAL }));
  const form = await dialog('Create New User');
  fill(form.getByLabelText(/^Username/), 'ann@example.com');
  fill(form.getByLabelText(/^Password/), 'a long first password');
  fill(form.getByLabelText(/^Confirm password/i), 'a long first password');
  await app.user.click(form.getByRole('button', { name: 'Create User' }));
  await press(app, await dialog(MESSAGE), 'Cancel');
  await expectGone(() => page().queryByRole('dialog', { name: MESSAGE }));
  expect(textIn((await dialog('Create New User')).getByLabelText(/^Username/))).toBe('ann@example.com');
});
