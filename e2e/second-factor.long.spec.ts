import type { Page } from '@playwright/test';
import { Secret, TOTP } from 'otpauth';
import { expect, test } from './fixtures.ts';
import { dialog, expectToast, fillLogin, pageTitle, signOut } from './screen.ts';
import { uniqueName } from './unique.ts';

test.use({ startsSignedIn: false });

const CONFIRM = 'Please confirm with your password';
const ONE_STEP_MS = 30_000;

test('a change asks for the password, and then goes on with what was begun', async ({
  page,
  server,
  expectFailure,
}) => {
  const name = `${uniqueName('dora')}@example.com`;
  const administrator = { username: server.adminUsername, password: server.adminPassword };
  await page.goto('/');
  await fillLogin(page, administrator);
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await page.goto('/create-client?dialog=create');
  const form = dialog(page, 'Create New User');
  await form.getByLabel('Username').fill(name);
  await form.getByLabel(/^Password/).fill('a first password');
  await form.getByLabel(/^Confirm Password/).fill('a first password');
  await form.getByLabel('Administrator').check();
  expectFailure({ path: '/api/admin/create-client', status: 403 });
  await form.getByRole('button', { name: 'Create User' }).click();

  const question = dialog(page, CONFIRM);
  expectFailure({ path: '/api/auth/step-up', status: 403 });
  await question.getByLabel('Password', { exact: true }).fill('not the password');
  await page.keyboard.press('Enter');
  await expect(question.getByRole('alert')).toHaveText('Invalid password');
  await question.getByLabel('Password', { exact: true }).fill(administrator.password);
  await page.keyboard.press('Enter');
  await expect(question).toBeHidden();
  await expectToast(page, { title: 'User Created Successfully', text: name });
});

test('an authenticator app, a recovery code and a passkey sign in', async ({
  page,
  server,
  operator,
  expectFailure,
  scan,
}) => {
  // Passkeys belong to a host name; an IP address has none.
  const origin = server.url.replace('127.0.0.1', 'localhost');
  const user = await operator.createUser();
  await addAuthenticator(page);
  await page.goto(origin);
  await fillLogin(page, user);
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await page.goto(`${origin}/settings`);

  const { app, recoveryCode } = await test.step('the app is set up with its first code', async () => {
    expectFailure({ path: '/api/auth/totp', status: 403 });
    await page.getByRole('button', { name: 'Set Up Authenticator App' }).click();
    await dialog(page, CONFIRM).getByLabel('Password', { exact: true }).fill(user.password);
    await page.keyboard.press('Enter');
    const setUp = dialog(page, 'Set Up Authenticator App');
    await expect(setUp.getByRole('img', { name: /^QR code/ })).toBeVisible();
    await scan('authenticator app', setUp);
    const secret = await setUp.getByText(/^[A-Z2-7]{32}$/).textContent();
    const app = new TOTP({ secret: Secret.fromBase32(secret ?? '') });
    await setUp.getByLabel('Code').fill(app.generate());
    await page.keyboard.press('Enter');
    const codes = dialog(page, 'Save Your Recovery Codes');
    const list = codes.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await expect(list).toHaveCount(10);
    await scan('recovery codes', codes);
    const recoveryCode = (await list.first().textContent()) ?? '';
    await codes.getByRole('button', { name: 'I have saved them' }).click();
    await expect(page.getByText('Recovery codes left: 10 of 10')).toBeVisible();
    return { app, recoveryCode };
  });

  await test.step('a passkey is added', async () => {
    await page.getByRole('button', { name: 'Add Passkey' }).click();
    const form = dialog(page, 'Add Passkey');
    await form.getByLabel('Name').fill('Laptop');
    await form.getByRole('button', { name: 'Add Passkey' }).click();
    await expectToast(page, { title: 'Passkey Added' });
    await expect(page.getByRole('list', { name: 'Passkeys' })).toContainText('Laptop');
    await scan('second factors');
  });

  await test.step('the password alone is not enough, the code is', async () => {
    await signOut(page, user.username);
    await fillLogin(page, user);
    await expect(page.getByText(`Confirm that you are ${user.username}`)).toBeVisible();
    await scan('second factor of a sign-in');
    expect((await page.request.get('/api/auth/user')).status()).toBe(401);
    expectFailure({ path: '/api/auth/login/factor', status: 403 });
    await page.getByLabel('Code').fill('000000');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('alert')).toBeVisible();
    // The code of the set-up does not work again; the next one does already.
    await page.getByLabel('Code').fill(app.generate({ timestamp: Date.now() + ONE_STEP_MS }));
    await page.keyboard.press('Enter');
    await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  });

  await test.step('a recovery code replaces the app once', async () => {
    await signOut(page, user.username);
    await fillLogin(page, user);
    await page.getByLabel('Code').fill(recoveryCode);
    await page.keyboard.press('Enter');
    await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
    await page.goto(`${origin}/settings`);
    await expect(page.getByText('Recovery codes left: 9 of 10')).toBeVisible();
  });

  await test.step('the passkey needs no password', async () => {
    await signOut(page, user.username);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
    await page.goto(`${origin}/settings`);
    await expect(page.getByRole('list', { name: 'Passkeys' })).toContainText('Last used');
  });
});

/** A device whose screen lock the user always opens. */
async function addAuthenticator(page: Page): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  await browser.send('WebAuthn.enable');
  await browser.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
