// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { stubPasskeys } from '#test/web/passkeys.ts';
import {
  type Answers,
  type App,
  alertOf,
  eventually,
  expectGone,
  failure,
  fill,
  findTitle,
  page,
  recorded,
  renderApp,
  textIn,
} from '#test/web/render-app.tsx';

const SESSION = 'GET /api/auth/user';
const LOGIN = 'POST /api/auth/login';
const FACTOR = 'POST /api/auth/login/factor';
const PASSKEY_OPTIONS = 'POST /api/auth/login/passkey/options';
const PASSKEY = 'POST /api/auth/login/passkey';
const NOT_SIGNED_IN = failure(401, 'Not signed in');
const USER = recorded[SESSION];

/** Signed out until `signedIn` has answered. */
function signedOut(others: Answers = {}): Answers {
  let isSignedIn = false;
  const signedIn = () => {
    isSignedIn = true;
    return { user: USER.user };
  };
  return {
    [SESSION]: () => (isSignedIn ? USER : NOT_SIGNED_IN),
    [LOGIN]: { factorRequired: ['totp', 'passkey'] },
    [FACTOR]: ({ body }: { body: { code: string } }) =>
      body.code === '123456' ? signedIn() : failure(403, 'The code or passkey was not accepted'),
    [PASSKEY_OPTIONS]: { challenge: 'AAAA' },
    [PASSKEY]: signedIn,
    ...others,
  };
}

const press = (app: App, name: string) => app.user.click(page().getByRole('button', { name }));

async function enterPassword(app: App): Promise<void> {
  await findTitle('Welcome Back');
  fill(page().getByLabelText(/^Username/), 'ann@example.com');
  fill(page().getByLabelText(/^Password/), 'first password');
  await press(app, 'Sign in');
}

/** Opens the card that asks for the second factor. */
async function openFactor(answers: Answers = {}): Promise<App> {
  const app = renderApp('/', signedOut(answers));
  await enterPassword(app);
  await page().findByText('Confirm that you are ann@example.com');
  return app;
}

describe('after the password of a user with a second factor', () => {
  test('the sign-in asks for a code, says why it was refused, and goes on with the right one', async () => {
    const app = await openFactor();
    const code = page().getByLabelText(/^Code/);
    expect(code.getAttribute('autocomplete')).toBe('one-time-code');
    page().getByText('Six digits from your authenticator app, or a recovery code');
    await eventually(() => expect(document.activeElement).toBe(code));
    await press(app, 'Continue');
    page().getByText('Code is required');
    fill(code, '000000');
    await press(app, 'Continue');
    await alertOf('The code or passkey was not accepted');
    app.answers[FACTOR] = failure(429, 'Too many failed attempts. Try again later.');
    await press(app, 'Continue');
    await alertOf('Too many failed attempts. Try again later.');
    const { [FACTOR]: accept, [SESSION]: session } = signedOut();
    Object.assign(app.answers, { [FACTOR]: accept, [SESSION]: session });
    fill(code, ' 123456 ');
    await press(app, 'Continue');
    await findTitle(/^Welcome, /);
    expect(app.sent(FACTOR).at(-1)?.body).toEqual({ code: '123456' });
  });

  test('Back returns to the password and keeps the username', async () => {
    const app = await openFactor();
    await press(app, 'Back');
    expect(textIn(await page().findByLabelText(/^Username/))).toBe('ann@example.com');
    expect(textIn(page().getByLabelText(/^Password/))).toBe('');
    expect(page().queryByRole('alert')).toBeNull();
  });

  test('a half sign-in that has ended returns to the password and says so', async () => {
    const app = await openFactor({ [FACTOR]: failure(401, 'Sign in again with your password') });
    fill(page().getByLabelText(/^Code/), '123456');
    await press(app, 'Continue');
    await alertOf('Sign in again with your password');
    expect(textIn(await page().findByLabelText(/^Username/))).toBe('ann@example.com');
    // The next attempt replaces the message.
    app.answers[LOGIN] = failure(401, 'Invalid username or password');
    fill(page().getByLabelText(/^Password/), 'wrong');
    await press(app, 'Sign in');
    await alertOf('Invalid username or password');
  });

  test('a passkey is offered only to a user who has one, in a browser that has them', async () => {
    const app = await openFactor();
    expect(page().queryByRole('button', { name: 'Use a passkey' })).toBeNull();
    await press(app, 'Back');
    stubPasskeys();
    app.answers[LOGIN] = { factorRequired: ['totp'] };
    await enterPassword(app);
    await page().findByLabelText(/^Code/);
    expect(page().queryByRole('button', { name: 'Use a passkey' })).toBeNull();
    await press(app, 'Back');
    app.answers[LOGIN] = { factorRequired: ['passkey'] };
    await enterPassword(app);
    await page().findByText('Confirm that you are ann@example.com');
    expect(page().queryByLabelText(/^Code/)).toBeNull();
    await press(app, 'Use a passkey');
    await findTitle(/^Welcome, /);
    expect(app.sent(PASSKEY)[0]?.body).toMatchObject({ assertion: { id: 'AQ', type: 'public-key' } });
  });

  test('a user with only a passkey is told when the browser has none', async () => {
    await openFactor({ [LOGIN]: { factorRequired: ['passkey'] } });
    page().getByText(/this browser cannot use passkeys/);
    page().getByRole('button', { name: 'Back' });
  });
});

describe('a passkey alone', () => {
  test('is not offered in a browser without passkeys', async () => {
    renderApp('/', signedOut());
    await findTitle('Welcome Back');
    expect(page().queryByRole('button', { name: 'Use a passkey' })).toBeNull();
  });

  test('signs in; a refusal and a cancelled dialog leave the form as it was', async () => {
    const passkey = stubPasskeys();
    const app = renderApp(
      '/signals',
      signedOut({ [PASSKEY]: failure(403, 'The code or passkey was not accepted') }),
    );
    await findTitle('Welcome Back');
    fill(page().getByLabelText(/^Username/), 'ann@example.com');
    await press(app, 'Use a passkey');
    await alertOf('The code or passkey was not accepted');
    passkey.refuse();
    await press(app, 'Use a passkey');
    await alertOf('No passkey was used: the request was cancelled or timed out');
    expect(textIn(page().getByLabelText(/^Username/))).toBe('ann@example.com');
    passkey.accept();
    Object.assign(app.answers, signedOut());
    await press(app, 'Use a passkey');
    await findTitle(/^Welcome, /);
    expect(app.address()).toBe('/');
    await expectGone(() => page().queryByText('Welcome Back'));
  });
});
