// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { testEveryCase, testInTurn } from '#test/app/in-turn.ts';
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
  recorded,
  renderApp,
  rowsOf,
  type Scope,
  textIn,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const HOOKS = 'GET /api/hooks';
const ALL = 'GET /api/admin/hooks';
const NO_WEBHOOKS = 'No user has a webhook yet';
const VERIFY = 'POST /api/auth/verify-password';
const hook = { ...recorded[HOOKS][0], id: 'hook-1', hookKey: 'aBcD…', masked: true };
const wholeHook = { ...hook, hookKey: 'aBcD0123456789aBcD0123456789aBcD', masked: false };
const DELIVERIES = `GET /api/hooks/${hook.id}/deliveries`;
const TEST = `POST /api/hooks/${hook.id}/test-deliveries`;
const [delivery] = recorded['GET /api/hooks/01a20be7-eff8-74e6-8aee-5eeab17e0248/deliveries'];
const NOT_FOUND = failure(404, 'Webhook not found');

const open = (answers: Answers = {}) =>
  renderApp(
    '/webhook',
    { [HOOKS]: [hook], [DELIVERIES]: [delivery], ...answers },
    { user: { isAdmin: false } },
  );
const keyField = () => page().findByLabelText('Webhook Key');
const press = async (app: App, name: string) =>
  await app.user.click(await page().findByRole('button', { name }));

async function confirm(app: App, form: Scope, name: string) {
  fill(form.getByLabelText(/^Password/), 'first password');
  await app.user.click(form.getByRole('button', { name }));
}

/** Opens the second dialog, which asks for the password. */
async function openConfirmation(app: App, { button, title }: { button: string; title: string }) {
  await press(app, button);
  await press(app, 'Continue');
  return await dialog(title);
}
async function openKey(app: App) {
  await press(app, 'Show key');
  return await dialog('View Key');
}

const RENEWAL = {
  button: 'Renew Key',
  title: 'Confirm Renewal',
  call: `PUT /api/hooks/${hook.id}`,
  fails: 'Failed to renew webhook',
  gone: 'No webhook to renew',
  pending: 'Renewing...',
  done: wholeHook,
};
const DELETION = {
  button: 'Delete',
  title: 'Confirm Deletion',
  call: `DELETE /api/hooks/${hook.id}`,
  fails: 'Failed to delete webhook',
  gone: 'No webhook to delete',
  pending: 'Deleting...',
  done: { message: 'Webhook deleted' },
};

// Requirements: screens-webhook-configuration-2
test('shows a skeleton while the webhook loads, and a retry when it cannot be fetched', async () => {
  const loading = held(UNREACHABLE);
  const app = open({ [HOOKS]: loading.promise });
  await page().findByRole('status', { name: 'Loading...' });
  loading.release();
  const failed = await alertOf('Failed to fetch webhooks');
  app.answers[HOOKS] = [hook];
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  expect(textIn(await keyField())).toBe('aBcD…');
});

// Requirements: accounts-messages-6, screens-webhook-configuration-12
test('reports that a webhook cannot be created, and creates it on the next try', async () => {
  const create = 'POST /api/hooks';
  const app = open({ [HOOKS]: [], [create]: UNREACHABLE });
  await press(app, 'Create Webhook');
  await expectToast('Error', 'Failed to create webhook');
  app.answers[create] = failure(409, 'You already have a webhook');
  await press(app, 'Create Webhook');
  await expectToast('Error', 'You already have a webhook');
  const creating = held(wholeHook);
  app.answers[create] = creating.promise;
  await press(app, 'Create Webhook');
  expect(isDisabled(await page().findByRole('button', { name: 'Creating...' }))).toBe(true);
  creating.release();
  await expectToast('Webhook Created');
  expect(textIn(await keyField())).toBe('aBcD…');
});

testEveryCase('keeps a new webhook on screen when an answer from before it arrives later', async () => {
  const create = 'POST /api/hooks';
  const app = open({ [HOOKS]: [], [create]: failure(409, 'You already have a webhook') });
  await page().findByRole('button', { name: 'Create Webhook' });
  const late = held([]);
  app.answers[HOOKS] = late.promise;
  // The conflict makes the screen ask again.
  await press(app, 'Create Webhook');
  await eventually(() => expect(app.sent(HOOKS)).toHaveLength(2));
  app.answers[create] = wholeHook;
  await press(app, 'Create Webhook');
  await expectToast('Webhook Created');
  late.release();
  await late.promise;
  // What is asked for and answered afterwards is on screen: the late answer would be by now.
  Object.assign(app.answers, { [HOOKS]: [wholeHook], [VERIFY]: { success: true } });
  await confirm(app, await openKey(app), 'View Key');
  await eventually(() => expect(textIn(page().getByLabelText('Webhook Key'))).toBe(wholeHook.hookKey));
  await press(app, 'Hide key');
  expect(textIn(await keyField())).toBe('aBcD…');
});

// Requirements: screens-webhook-configuration-9, accounts-roles-5, accounts-messages-9
test('renewing warns that the old key stops at once, and takes the password', async () => {
  const app = open({ [RENEWAL.call]: failure(403, 'Invalid password') });
  await press(app, RENEWAL.button);
  const warning = await dialog('Renew Webhook Key');
  warning.getByText(/generates a new key and invalidates the old one at once/);
  warning.getByText(/cannot be undone/);
  await press(app, 'Continue');
  const form = await dialog(RENEWAL.title);
  const renew = form.getByRole('button', { name: RENEWAL.title });
  expect(isDisabled(renew)).toBe(true);
  expect(app.sent(RENEWAL.call)).toEqual([]);
  await confirm(app, form, RENEWAL.title);
  await expectToast('Error', 'Invalid password');
  app.answers[RENEWAL.call] = wholeHook;
  await app.user.click(renew);
  await expectToast('Webhook Renewed', 'The old key is no longer valid.');
  await expectGone(() => page().queryByRole('dialog'));
  const renewal = { body: { generateNewKey: true, password: 'first password' } };
  expect(app.sent(RENEWAL.call)).toMatchObject([renewal, renewal]);
});

const changes = [RENEWAL, DELETION];
describe.for(changes)('the dialog $title', (change) => {
  const test = testInTurn(changes, change);

  // Requirements: accounts-messages-6, screens-webhook-configuration-12
  testEveryCase(
    'stays open for another try without an answer, and waits while the server works',
    async () => {
      const app = open({ [change.call]: UNREACHABLE });
      const form = await openConfirmation(app, change);
      await confirm(app, form, change.title);
      await expectToast('Error', change.fails);
      app.answers[change.call] = failure(429, 'Too many failed attempts. Try again later.');
      await app.user.click(form.getByRole('button', { name: change.title }));
      await expectToast('Error', 'Too many failed attempts. Try again later.');
      const changing = held(change.done);
      app.answers[change.call] = changing.promise;
      await app.user.click(form.getByRole('button', { name: change.title }));
      expect(isDisabled(await form.findByRole('button', { name: change.pending }))).toBe(true);
      changing.release();
      await expectGone(() => page().queryByRole('dialog'));
    },
  );

  // Requirements: accounts-messages-7
  test('reports a webhook that was deleted elsewhere before the warning', async () => {
    const app = open();
    await keyField();
    app.answers[HOOKS] = [];
    await press(app, change.button);
    await page().findByText('No Webhook Configured');
    await press(app, 'Continue');
    await confirm(app, await dialog(change.title), change.title);
    await expectToast('Error', change.gone);
    await expectGone(() => page().queryByRole('dialog'));
  });

  // Requirements: accounts-messages-6
  test("shows the server's message when the webhook was deleted in the meantime", async () => {
    const app = open({ [change.call]: NOT_FOUND });
    const form = await openConfirmation(app, change);
    app.answers[HOOKS] = [];
    await confirm(app, form, change.title);
    await expectToast('Error', 'Webhook not found');
    await expectGone(() => page().queryByRole('dialog'));
    await page().findByText('No Webhook Configured');
  });
});

// Requirements: screens-webhook-configuration-11, screens-webhook-configuration-12
testEveryCase(
  'keeps the password dialog open while verifying, so nothing is shown or copied behind it',
  async () => {
    const verifying = held({ success: true });
    const app = open({ [VERIFY]: verifying.promise });
    const form = await openKey(app);
    await confirm(app, form, 'View Key');
    expect(isDisabled(await form.findByRole('button', { name: 'Verifying...' }))).toBe(true);
    await app.user.keyboard('{Escape}');
    await app.user.click(form.getByRole('button', { name: 'Close dialog' }));
    page().getByRole('dialog', { name: 'View Key' });
    app.answers[HOOKS] = [wholeHook];
    verifying.release();
    await expectToast('Access Granted', 'Webhook key is now visible.');
    await expectGone(() => page().queryByRole('dialog'));
    await eventually(async () => expect(textIn(await keyField())).toBe(wholeHook.hookKey));
  },
);

// Requirements: screens-webhook-configuration-5, webhook-deliveries-6, accounts-messages-9
// Requirements: accounts-states-13, accounts-roles-5
test('masks the key until the password is entered, then copies it whole', async () => {
  const app = open({ [VERIFY]: { success: true } });
  const hint = () => page().queryByText('Shown after your password');
  const url = (label: string) => textIn(page().getByLabelText(label));
  expect(textIn(await keyField())).toBe('aBcD…');
  for (const label of ['Signal Webhook URL', 'Price Data Webhook URL'])
    expect(url(label)).toMatch(/hkid=aBcD…$/);
  expect(hint()).not.toBeNull();
  await press(app, 'Copy Webhook Key');
  const form = await dialog('View Key');
  expect(isDisabled(form.getByRole('button', { name: 'View Key' }))).toBe(true);
  app.answers[HOOKS] = [wholeHook];
  await confirm(app, form, 'View Key');
  await expectGone(() => page().queryByRole('dialog'));
  await eventually(async () => expect(await navigator.clipboard.readText()).toBe(wholeHook.hookKey));
  expect(textIn(await keyField())).toBe(wholeHook.hookKey);
  expect(hint()).toBeNull();
  await press(app, 'Copy Webhook Key');
  await expectToast('Copied', 'Webhook Key copied to clipboard');
  navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
  document.execCommand = () => false;
  await press(app, 'Copy Signal Webhook URL');
  await expectToast('Error', 'Failed to copy to clipboard');
  await press(app, 'Hide key');
  expect(textIn(await keyField())).toBe('aBcD…');
});

// Requirements: accounts-messages-8
test('does not call a password wrong when it could not be verified', async () => {
  const unverified = 'The password could not be verified';
  const app = open();
  const form = await openKey(app);
  for (const [answer, text] of [
    [UNREACHABLE, unverified],
    [new Failure(500, null), unverified],
    [new Failure(502, '<h1>Bad Gateway</h1>'), unverified],
    [failure(500, 'Internal server error'), 'Internal server error'],
    [new Failure(403, null), 'Invalid password'],
    [failure(403, 'This account may not do that'), 'This account may not do that'],
    [
      failure(429, 'Too many failed attempts. Try again later.'),
      'Too many failed attempts. Try again later.',
    ],
  ] as const) {
    app.answers[VERIFY] = answer;
    await confirm(app, form, 'View Key');
    await expectToast('Access Denied', text);
  }
  app.answers[VERIFY] = { success: true };
  app.answers[HOOKS] = UNREACHABLE;
  await confirm(app, form, 'View Key');
  await expectToast('Error', 'Failed to fetch webhooks');
  await expectGone(() => page().queryByRole('dialog'));
  expect(textIn(await keyField())).toBe('aBcD…');
});

test('loads, fails and recovers the delivery log independently of the rest of the screen', async () => {
  const loading = held(UNREACHABLE);
  const app = open({ [DELIVERIES]: loading.promise });
  const table = await page().findByRole('table', { name: 'Recent deliveries' });
  expect(table.getAttribute('aria-busy')).toBe('true');
  loading.release();
  const failed = await alertOf('Failed to fetch deliveries');
  await keyField();
  app.answers[DELIVERIES] = [delivery];
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await eventually(() => expect(rowsOf('Recent deliveries')).toHaveLength(1));
  app.answers[DELIVERIES] = UNREACHABLE;
  await press(app, 'Refresh');
  await alertOf('Failed to fetch deliveries');
  expect(rowsOf('Recent deliveries')).toHaveLength(1);
});

test('says how many more refused deliveries a minute had', async () => {
  await open({ [DELIVERIES]: [{ ...delivery, result: 'limited', more: 312 }] });
  expect(await page().findByText('and 312 more in this minute')).toBeDefined();
});

// Requirements: webhook-deliveries-32
test('shows what a refused delivery sent, and where it stops being JSON', async () => {
  const body = '{\n "note": "a "quoted" word"\n}';
  const refused = { ...delivery, result: 'refused', reason: 'The body is not valid JSON' };
  const app = open({
    [DELIVERIES]: [
      { ...refused, refused: { body, position: { line: 2, column: 13 } } },
      { ...refused, id: 'another', refused: { body: '{"price":"***"}', position: null } },
      { ...delivery, id: 'stored' },
    ],
  });
  const [first, second, ...more] = await page().findAllByText('What was sent', { selector: 'summary' });
  expect(more).toEqual([]);
  await app.user.click(first as HTMLElement);
  const [shown, masked] = page().getAllByRole('region', { name: 'What was sent', hidden: true });
  expect(shown?.textContent).toBe(body);
  expect(first?.parentElement?.textContent).toContain('It stops being JSON at line 2, column 13.');
  expect(masked?.textContent).toBe('{"price":"***"}');
  expect(second?.parentElement?.textContent).not.toContain('stops being JSON');
});

describe('a test delivery', () => {
  const SENT = { success: true, id: '1', duplicate: false, message: 'Stored', errors: [] };

  test('affects its sender only, and reports sending, stored, duplicate and not sent', async () => {
    const sending = held(SENT);
    const app = open({ [TEST]: sending.promise });
    await press(app, 'Send test signal');
    const form = await dialog('Send Test Signal');
    expect(form.element.textContent).toContain('only for you');
    fill(form.getByLabelText('Symbol'), 'SOLUSDT');
    await app.user.click(form.getByRole('button', { name: 'Send' }));
    expect(isDisabled(await form.findByRole('button', { name: 'Sending...' }))).toBe(true);
    sending.release();
    await alertOf('The signal was stored.');
    expect(form.queryByRole('link')).toBeNull();
    expect(app.sent(TEST)[0]?.body).toMatchObject({ kind: 'signal', payload: { symbol: 'SOLUSDT' } });
    const busy = 'Over the limit of deliveries a minute. Send it again.';
    for (const [answer, text] of [
      [{ ...SENT, duplicate: true }, 'nothing was stored or traded again'],
      [UNREACHABLE, 'Failed to send the test signal'],
      [failure(503, busy), busy],
    ] as const) {
      app.answers[TEST] = answer;
      await app.user.click(await form.findByRole('button', { name: 'Send' }));
      await alertOf(text);
    }
    expect(textIn(form.getByLabelText('Symbol'))).toBe('SOLUSDT');
  });

  testEveryCase('is a new one with every send, unless its time was entered', async () => {
    const app = open({ [TEST]: SENT });
    await press(app, 'Send test signal');
    const form = await dialog('Send Test Signal');
    const times = () =>
      app.sent(TEST).map(({ body }) => (body as { payload: { time: string } }).payload.time);
    const send = async () => {
      await app.user.click(form.getByRole('button', { name: 'Send' }));
      await alertOf('The signal was stored.');
      await eventually(() => expect(isDisabled(form.getByRole('button', { name: 'Send' }))).toBe(false));
    };
    await send();
    await send();
    expect(new Set(times()).size).toBe(2);
    fill(form.getByLabelText('Time'), '2026-11-21T10:00:00Z');
    await send();
    await send();
    expect(times().slice(2)).toEqual(['2026-11-21T10:00:00Z', '2026-11-21T10:00:00Z']);
  });

  test('shows every reason when refused, and marks the fields', async () => {
    const errors = [
      { path: 'price', message: 'must be digits with at most one point' },
      { path: 'timeframe', message: 'is required' },
    ];
    const app = open({ [TEST]: { ...SENT, success: false, id: null, message: 'Refused', errors } });
    await press(app, 'Send test signal');
    const form = await dialog('Send Test Signal');
    await app.user.click(form.getByRole('button', { name: 'Send' }));
    await alertOf('Refused');
    expect(form.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      'price must be digits with at most one point',
      'timeframe is required',
    ]);
    const isInvalid = (label: string) => form.getByLabelText(label).getAttribute('aria-invalid');
    expect(['Price', 'Timeframe', 'Symbol'].map(isInvalid)).toEqual(['true', 'true', null]);
    app.answers[TEST] = SENT;
    await app.user.click(form.getByRole('button', { name: 'Send' }));
    await alertOf('The signal was stored.');
    expect(isInvalid('Price')).toBeNull();
  });

  testEveryCase('asks before losing an edited delivery, but not after sending it', async () => {
    const app = open({ [TEST]: SENT });
    await press(app, 'Send test candle');
    const form = await dialog('Send Test Candle');
    fill(form.getByLabelText('Symbol'), 'SOLUSDT');
    await app.user.keyboard('{Escape}');
    const question = await dialog('You have unsaved changes');
    await app.user.click(question.getByRole('button', { name: 'Stay' }));
    await app.user.click(form.getByRole('button', { name: 'Send' }));
    await alertOf('The candle was stored.');
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('dialog'));
  });

  testEveryCase(
    'is refused while real money is traded automatically; only administrators see that beforehand',
    async () => {
      const refusal = 'Test deliveries are refused while real money is traded automatically';
      const status = recorded['GET /api/environment/status'];
      const live = {
        environment: 'production',
        isProduction: true,
        autoTradeEnabled: true,
        exchangeMode: 'live',
      };
      let app = open({ [TEST]: failure(403, refusal) });
      await press(app, 'Send test signal');
      const own = await dialog('Send Test Signal');
      await app.user.click(own.getByRole('button', { name: 'Send' }));
      await alertOf(refusal);

      app = renderApp('/configuration', {
        [HOOKS]: [hook],
        [DELIVERIES]: [],
        'GET /api/environment/status': { ...status, ...live },
      });
      for (const kind of ['Signal', 'Candle']) {
        await press(app, `Send test ${kind.toLowerCase()}`);
        const form = await dialog(`Send Test ${kind}`);
        await form.findByText(/Real money is traded automatically at the moment/);
        expect(isDisabled(form.getByRole('button', { name: 'Send' }))).toBe(true);
        await app.user.click(form.getByRole('button', { name: 'Close' }));
        await expectGone(() => page().queryByRole('dialog'));
      }
    },
  );

  testEveryCase(
    'is not sent to a webhook that was deleted elsewhere, and the screen shows the deletion',
    async () => {
      const app = open({ [TEST]: NOT_FOUND });
      await press(app, 'Send test candle');
      const form = await dialog('Send Test Candle');
      app.answers[HOOKS] = [];
      await app.user.click(form.getByRole('button', { name: 'Send' }));
      await expectToast('Error', 'Webhook not found');
      await page().findByText('No Webhook Configured');
      await expectGone(() => page().queryByRole('dialog'));
    },
  );
});

testEveryCase('says when no user has a webhook or the webhooks of all users cannot be fetched', async () => {
  const app = renderApp('/configuration', { [ALL]: UNREACHABLE });
  const failed = await alertOf('Failed to fetch the webhooks of all users');
  app.answers[ALL] = { hooks: [], total: 0 };
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await page().findByText(NO_WEBHOOKS);
  open();
  await page().findByRole('heading', { name: 'API Endpoints' });
  expect(page().queryByRole('heading', { name: 'Webhooks of all users' })).toBeNull();
});

test('an administrator deletes the webhook of a user with the own password', async () => {
  const [other] = recorded[ALL].hooks;
  const deletion = `DELETE /api/admin/hooks/${other?.id}`;
  const app = renderApp('/configuration', { [deletion]: { message: 'Webhook deleted' } });
  await press(app, `Delete the webhook of ${other?.username}`);
  const form = await dialog('Delete the Webhook of a User');
  expect(form.element.textContent).toContain('can create a new webhook');
  app.answers[ALL] = { hooks: [], total: 0 };
  await confirm(app, form, 'Delete Webhook');
  await expectToast('Webhook Deleted');
  expect(app.sent(deletion)[0]?.body).toEqual({ password: 'first password' });
  await page().findByText(NO_WEBHOOKS);
});
