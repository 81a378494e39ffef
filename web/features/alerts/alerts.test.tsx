// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  dialog,
  eventually,
  expectGone,
  expectToast,
  Failure,
  failure,
  fill,
  findTitle,
  PENDING,
  page,
  recorded,
  renderApp,
  textIn,
} from '#test/web/render-app.tsx';

const CHANNELS = '/api/notification-channels';
const NOTIFICATIONS = '/api/notifications';
const [channel] = recorded[`GET ${CHANNELS}`].channels;
const [notification] = recorded[`GET ${NOTIFICATIONS}`].notifications;

const failing = {
  ...channel,
  id: 'failing',
  name: 'Night shift',
  kind: 'webhook',
  config: { url: 'https://ops.example.com/…hook', secret: '…abcd' },
  minSeverity: 'critical',
  codes: ['user_halted', 'order_in_doubt'],
  quietHours: { from: '22:00', to: '07:00' },
  enabled: false,
  owner: { id: 'another', username: 'ann@example.com' },
  lastError: 'The receiver answered 500',
  lastErrorAt: '2026-11-24T04:54:51.402Z',
  waiting: 3,
};

const click = async (name: string | RegExp) => {
  (await page().findByRole('button', { name })).click();
};

describe('the channels', () => {
  // Requirements: additions-alerts-16
  test('are shown with their state, filters and last error', async () => {
    renderApp('/alerts', { [`GET ${CHANNELS}`]: { channels: [channel, failing] } });
    await findTitle('Alerts');
    const list = await page().findByRole('list', { name: 'Channels' });
    await eventually(() => expect(list.querySelectorAll('li')).toHaveLength(2));
    const [first, second] = [...list.querySelectorAll('li')].map((item) => item.textContent);
    expect(first).toContain('OperationsSlack');
    expect(first).toContain('Everything');
    expect(first).toContain('Nothing was sent yet');
    for (const text of [
      'Night shiftWebhookOffFailing',
      'https://ops.example.com/…hook · ann@example.com',
      'Critical, 2 kinds of notices, quiet 22:00 to 07:00',
      '3 waiting',
      'The receiver answered 500',
    ]) {
      expect(second).toContain(text);
    }
  });

  testEveryCase('say what is missing without any, and report a failure with a retry', async () => {
    const app = renderApp('/alerts', { [`GET ${CHANNELS}`]: { channels: [] } });
    await page().findByText(/^No channels\./);
    app.answers[`GET ${CHANNELS}`] = failure(500, 'Internal server error');
    app.reload();
    await page().findByText('Failed to fetch channels');
  });

  test('are for ordinary users too, with the kinds that concern users', async () => {
    renderApp('/alerts', { [`GET ${CHANNELS}`]: { channels: [] } }, { user: { isAdmin: false } });
    await page().findByText('Channels that tell what happens to your account');
    await click('Add channel');
    const form = await dialog('Add Channel');
    (await form.findByLabelText('All kinds of notices')).click();
    await form.findByLabelText('Trade filled');
    expect(form.queryByLabelText('Disk low')).toBeNull();
  });

  // Requirements: additions-alerts-16
  test('are created with what the kind needs, and a secret that was made is shown once', async () => {
    const app = renderApp('/alerts', {
      [`GET ${CHANNELS}`]: { channels: [] },
      [`POST ${CHANNELS}`]: { ...channel, secret: 'whsec_made' },
    });
    await click('Add channel');
    const form = await dialog('Add Channel');
    (await form.findByRole('button', { name: 'Add channel' })).click();
    await form.findByText('Name is required');
    await form.findByText('Address is required');
    expect(app.sent(`POST ${CHANNELS}`)).toEqual([]);
    fill(form.getByLabelText(/^Name/), 'Ops');
    fill(form.getByLabelText(/^Address/), 'https://ops.example.com/hook');
    fill(form.getByLabelText('Quiet from'), '22:00');
    (await form.findByRole('button', { name: 'Add channel' })).click();
    await form.findByText('Enter both times or none');
    fill(form.getByLabelText('Quiet until'), '07:00');
    (await form.findByRole('button', { name: 'Add channel' })).click();
    await eventually(() => expect(app.sent(`POST ${CHANNELS}`)).toHaveLength(1));
    expect(app.sent(`POST ${CHANNELS}`)[0]?.body).toEqual({
      kind: 'webhook',
      name: 'Ops',
      config: { url: 'https://ops.example.com/hook' },
      minSeverity: 'info',
      codes: null,
      quietHours: { from: '22:00', to: '07:00' },
      enabled: true,
    });
    const shown = await dialog('Channel Created');
    shown.getByText('Copy the secret now');
    await app.user.keyboard('{Escape}');
    expect(textIn(shown.getByLabelText('Secret'))).toBe('whsec_made');
    expect(shown.queryByRole('button', { name: 'Close dialog' })).toBeNull();
    shown.getByRole('button', { name: 'Done' }).click();
    await expectGone(() => page().queryByText('Copy the secret now'));
  });

  testEveryCase('that the server refuses show the reason at the field', async () => {
    const errors = [{ path: 'config.url', message: 'The address leads to a private network' }];
    renderApp('/alerts', {
      [`GET ${CHANNELS}`]: { channels: [] },
      [`POST ${CHANNELS}`]: new Failure(400, { message: errors[0]?.message, errors }),
    });
    await click('Add channel');
    const form = await dialog('Add Channel');
    fill(await form.findByLabelText(/^Name/), 'Ops');
    fill(form.getByLabelText(/^Address/), 'https://10.0.0.1/');
    (await form.findByRole('button', { name: 'Add channel' })).click();
    await form.findByText('The address leads to a private network');
  });

  testEveryCase('keep their secrets when they are edited', async () => {
    const app = renderApp('/alerts', {
      [`GET ${CHANNELS}`]: { channels: [failing] },
      [`PUT ${CHANNELS}/failing`]: failing,
    });
    await click('Edit Night shift');
    const form = await dialog('Edit Night shift');
    const address = (await form.findByLabelText('Address')) as HTMLInputElement;
    expect([address.value, address.placeholder]).toEqual(['', 'Unchanged (https://ops.example.com/…hook)']);
    fill(form.getByLabelText(/^Name/), 'Day shift');
    (await form.findByRole('button', { name: 'Save' })).click();
    await eventually(() => expect(app.sent(`PUT ${CHANNELS}/failing`)).toHaveLength(1));
    expect(app.sent(`PUT ${CHANNELS}/failing`)[0]?.body).toMatchObject({
      name: 'Day shift',
      config: {},
      codes: ['user_halted', 'order_in_doubt'],
      enabled: false,
    });
  });

  test('of Telegram answer commands when that is switched on, and show what keeps them from it, and a mute with its end', async () => {
    const phone = {
      ...channel,
      id: 'phone',
      name: 'Phone',
      kind: 'telegram',
      config: { botToken: '…wxyz', chatId: '42' },
      answers: true,
      answersError: 'The receiver answered 409',
      mutedUntil: '2999-11-24T04:54:51.402Z',
    };
    const refused = 'The bot cannot write to this chat: The receiver answered 403';
    const app = renderApp('/alerts', {
      [`GET ${CHANNELS}`]: { channels: [{ ...phone, answers: false, answersError: null }] },
      [`PUT ${CHANNELS}/phone`]: new Failure(400, {
        message: refused,
        errors: [{ path: 'answers', message: refused }],
      }),
    });
    await click('Edit Phone');
    const form = await dialog('Edit Phone');
    (await form.findByLabelText('Answers commands from this chat')).click();
    app.answers[`GET ${CHANNELS}`] = { channels: [phone] };
    (await form.findByRole('button', { name: 'Save' })).click();
    await form.findByText(refused);
    app.answers[`PUT ${CHANNELS}/phone`] = phone;
    form.getByRole('button', { name: 'Save' }).click();
    await page().findByText('Commands are not answered: The receiver answered 409');
    await page().findByText('Chat 42');
    await page().findByText(/^Muted until .* except for critical notices$/);
    expect(app.sent(`PUT ${CHANNELS}/phone`).at(-1)?.body).toMatchObject({ answers: true });

    app.answers[`DELETE ${CHANNELS}/phone/mute`] = failure(500, 'Internal server error');
    await click('Unmute Phone');
    await expectToast('Error', 'Internal server error');
    const unmuted = { ...phone, mutedUntil: null };
    app.answers[`DELETE ${CHANNELS}/phone/mute`] = unmuted;
    app.answers[`GET ${CHANNELS}`] = { channels: [unmuted] };
    await click('Unmute Phone');
    await expectToast('Channel Unmuted', 'Phone gets all of its notices again');
    await expectGone(() => page().queryByText(/^Muted until/));
    expect(page().queryByRole('button', { name: 'Unmute Phone' })).toBeNull();
    expect(document.activeElement).toBe(page().getByRole('button', { name: 'Send a test to Phone' }));
  });

  test('are tested, with the result in words', async () => {
    const app = renderApp('/alerts', {
      [`GET ${CHANNELS}`]: { channels: [failing] },
      [`POST ${CHANNELS}/failing/test`]: { ok: false, detail: 'The receiver answered 404' },
    });
    await click('Send a test to Night shift');
    await expectToast('Test Failed', 'The receiver answered 404');
    app.answers[`POST ${CHANNELS}/failing/test`] = { ok: true, detail: 'Accepted (204)' };
    await click('Send a test to Night shift');
    await expectToast('Test Sent', 'Accepted (204)');
  });

  test('are deleted after a question', async () => {
    const app = renderApp('/alerts', {
      [`GET ${CHANNELS}`]: { channels: [failing] },
      [`DELETE ${CHANNELS}/failing`]: { message: 'The channel was deleted' },
    });
    await click('Delete Night shift');
    const form = await dialog('Delete Channel');
    (await form.findByRole('button', { name: 'Delete channel' })).click();
    await eventually(() => expect(app.sent(`DELETE ${CHANNELS}/failing`)).toHaveLength(1));
  });
});

describe('the bell', () => {
  const bell = () => page().findByRole('button', { name: /^Notifications/ });

  // Requirements: additions-alerts-15
  test('counts what needs attention, tells the tab how much is critical, and lists it first', async () => {
    const condition = (severity: string, text: string, link: string | null) => ({
      code: text,
      severity,
      since: null,
      text,
      link,
      action: null,
    });
    renderApp('/', {
      'GET /api/attention': {
        conditions: [
          condition('critical', 'A position of ann has no stop', '/positions'),
          condition('warning', 'SOL candles are silent', null),
        ],
      },
      [`GET ${NOTIFICATIONS}`]: { notifications: [], total: 70 },
    });
    const button = await bell();
    await eventually(() =>
      expect(button.getAttribute('aria-label')).toBe('Notifications, 2 need attention, 70 unread'),
    );
    expect(button.textContent).toBe('2');
    await eventually(() => expect(document.title).toBe('(1) Dashboard - Signal Board'));
    button.click();
    const list = await page().findByRole('list', { name: 'Needs attention' });
    expect([...list.querySelectorAll('li')].map(({ textContent }) => textContent)).toEqual([
      'CriticalA position of ann has no stop',
      'WarningSOL candles are silent',
    ]);
    expect(list.querySelector('a')?.getAttribute('href')).toBe('/positions');
  });

  testEveryCase('with nothing that needs attention counts nothing', async () => {
    renderApp('/', {
      'GET /api/attention': { conditions: [] },
      [`GET ${NOTIFICATIONS}`]: { notifications: [], total: 70 },
    });
    const button = await bell();
    await eventually(() =>
      expect(button.getAttribute('aria-label')).toBe('Notifications, 0 need attention, 70 unread'),
    );
    expect(button.textContent).toBe('');
    expect(document.title).toBe('Dashboard - Signal Board');
  });

  test('says when it is not known what needs attention', async () => {
    renderApp('/', { 'GET /api/attention': failure(503, 'The service is not available at the moment') });
    const button = await bell();
    await eventually(() => expect(button.textContent).toBe('?'));
    expect(button.getAttribute('aria-label')).toContain('what needs attention is not known');
  });

  // Requirements: additions-alerts-15
  test('shows ordinary users how many notices are unread, and the inbox on a click', async () => {
    const answers = {
      [`GET ${NOTIFICATIONS}`]: {
        notifications: [
          notification,
          { ...notification, id: 'second', read: true, severity: 'critical', text: 'Halted' },
        ],
        total: 120,
      },
      [`POST ${NOTIFICATIONS}/read`]: { unread: 0 },
    };
    const app = renderApp('/', answers, { user: { isAdmin: false } });
    const button = await bell();
    await eventually(() => expect(button.getAttribute('aria-label')).toBe('Notifications, 120 unread'));
    expect(button.textContent).toBe('99+');
    button.click();
    const inbox = await page().findByRole('dialog', { name: 'Notifications' });
    await eventually(() =>
      expect(inbox.textContent).toContain('Filled for follower@example.com: buy 22.6 ETH at 3000'),
    );
    expect(inbox.textContent).toContain('Critical');
    await click(/^Mark as read: Filled/);
    await eventually(() => expect(app.sent(`POST ${NOTIFICATIONS}/read`)).toHaveLength(1));
    await click('Mark all as read');
    await eventually(() => expect(app.sent(`POST ${NOTIFICATIONS}/read`)).toHaveLength(2));
    expect(app.sent(`POST ${NOTIFICATIONS}/read`).map(({ body }) => body)).toEqual([
      { ids: [notification?.id] },
      { all: true },
    ]);
    await app.user.click(await page().findByText('Halted'));
    await eventually(() => expect(app.address()).toContain('/signals?dialog=users'));
    await expectGone(() => page().queryByRole('dialog', { name: 'Notifications' }));
  });

  testEveryCase('closes with Escape and returns the focus', async () => {
    const { user } = renderApp('/', { [`GET ${NOTIFICATIONS}`]: { notifications: [], total: 0 } });
    const button = await bell();
    await user.click(button);
    await page().findByText('Nothing was told yet');
    await user.keyboard('{Escape}');
    await expectGone(() => page().queryByText('Nothing was told yet'));
    expect(document.activeElement).toBe(button);
  });

  testEveryCase('says when the number is not known, and shows the failure in the inbox', async () => {
    renderApp('/', { [`GET ${NOTIFICATIONS}`]: failure(503, 'The service is not available at the moment') });
    const button = await bell();
    await eventually(() => expect(button.getAttribute('aria-label')).toContain('not known'));
    button.click();
    await page().findByText('Failed to fetch notifications');
  });

  testEveryCase('shows no number while it loads', async () => {
    renderApp('/', { [`GET ${NOTIFICATIONS}`]: PENDING });
    expect((await bell()).textContent).toBe('');
  });
});
