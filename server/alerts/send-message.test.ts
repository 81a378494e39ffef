import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ChannelConfig } from '#contract/notification-channels.ts';
import { systemClock } from '#server/platform/clock.ts';
import {
  cut,
  endless,
  hang,
  startMailServer,
  startReceiver,
  startUntrustedReceiver,
  status,
  type TestReceiver,
} from '#test/app/test-receivers.ts';
import { newSigningSecret } from './channel-config.ts';
import { isPublicAddress } from './checked-address.ts';
import { type Message, type MessageOptions, sendMessage } from './send-message.ts';

let receiver: TestReceiver;
let mailServer: Awaited<ReturnType<typeof startMailServer>>;
beforeAll(async () => {
  receiver = await startReceiver();
  mailServer = await startMailServer();
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer();
  mailServer.mails.length = 0;
  mailServer.refuse(null);
});
afterAll(async () => {
  await receiver.close();
  await mailServer.close();
});

const MESSAGE: Message = {
  id: '01a0-of-the-notice',
  code: 'trade_filled',
  severity: 'critical',
  at: '2026-05-04T10:00:00.000Z',
  text: 'Filled for ada: buy 0.05 BTC at 67000 <&>',
  link: 'https://board.example.com/signals',
  subject: { username: 'ada', token: 'BTC' },
  data: { quantity: '0.05' },
};

const options = (more: Partial<MessageOptions> = {}): MessageOptions => ({
  allowPrivate: true,
  telegramUrl: receiver.url,
  clock: systemClock,
  ...more,
});
const secret = newSigningSecret();
const webhook = (url = `${receiver.url}/hook`): ChannelConfig => ({ kind: 'webhook', url, secret });
const email = (more: object = {}): ChannelConfig => ({
  kind: 'email',
  host: '127.0.0.1',
  port: mailServer.port,
  secure: false,
  from: 'board@example.com',
  to: 'ops@example.com',
  ...more,
});

describe('a message', () => {
  // Requirements: additions-alerts-8
  test('to a webhook is signed as Standard Webhooks has it', async () => {
    expect(await sendMessage(webhook(), MESSAGE, options())).toEqual({ ok: true, detail: 'Accepted (204)' });
    const [one] = receiver.received;
    expect(one).toMatchObject({ method: 'POST', path: '/hook' });
    expect(one?.headers['webhook-id']).toBe(MESSAGE.id);
    const headers = one?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(one?.body ?? '', headers)).toEqual(MESSAGE);
    expect(() => new Webhook(newSigningSecret()).verify(one?.body ?? '', headers)).toThrow();
    expect(() => new Webhook(secret).verify(`${one?.body} `, headers)).toThrow();
  });

  test('to Telegram is plain text', async () => {
    const config = {
      kind: 'telegram',
      botToken: '12345:abcdefghijklmnopqrstuvwxyz',
      chatId: '-100',
    } as const;
    expect(await sendMessage(config, MESSAGE, options())).toMatchObject({ ok: true });
    const [one] = receiver.received;
    expect(one?.path).toBe('/bot12345:abcdefghijklmnopqrstuvwxyz/sendMessage');
    const body = JSON.parse(one?.body ?? '');
    expect(body).toMatchObject({ chat_id: '-100' });
    expect(body.text).toContain(MESSAGE.text);
    expect(body.text).toContain(MESSAGE.link);
  });

  test('to Discord mentions nobody, and to Slack is escaped', async () => {
    for (const kind of ['discord', 'slack'] as const) {
      await sendMessage({ kind, url: `${receiver.url}/${kind}` }, MESSAGE, options());
    }
    const [discord, slack] = receiver.received.map(({ body }) => JSON.parse(body));
    expect(discord.content).toContain(MESSAGE.text);
    expect(discord.allowed_mentions).toEqual({ parse: [] });
    expect(slack.text).toContain('67000 &lt;&amp;&gt;');
  });

  test('of any length fits what the services take', async () => {
    const long = { ...MESSAGE, text: '😀'.repeat(5_000) };
    await sendMessage({ kind: 'discord', url: receiver.url }, long, options());
    const { content } = JSON.parse(receiver.received[0]?.body ?? '') as { content: string };
    expect(content.length).toBeLessThanOrEqual(2_000);
    expect(content.isWellFormed()).toBe(true);
  });

  test('goes out by e-mail with a stable id', async () => {
    const config = email({ username: 'me', password: 'secret' });
    expect(await sendMessage(config, MESSAGE, options())).toEqual({
      ok: true,
      detail: 'Accepted by the mail server',
    });
    const [mail] = mailServer.mails;
    expect(mail).toMatchObject({ user: 'me' });
    expect(mail?.from).toContain('board@example.com');
    expect(mail?.to[0]).toContain('ops@example.com');
    expect(mail?.data).toContain(`Message-ID: <${MESSAGE.id}@signal-board>`);
    expect(mail?.data).toMatch(/^Subject: .*critical/m);
  });

  test('by e-mail sends no password without TLS, unless private servers are allowed', async () => {
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const config = email({ host: 'mail.example.com', username: 'me', password: 'secret' });
    const refused = await sendMessage(config, MESSAGE, options({ allowPrivate: false, resolve }));
    expect(refused.detail).toContain('private network');
    mailServer.refuse('535 5.7.8 wrong: secret');
    const wrong = await sendMessage(email({ username: 'me', password: 'secret' }), MESSAGE, options());
    expect(wrong).toEqual({ ok: false, detail: 'The mail server refused the sign-in (535)' });
    expect(mailServer.mails).toEqual([]);
  });
});

// Requirements: additions-alerts-9
describe('a receiver', () => {
  test.each([
    ['fails', status(500, {}, 'a secret text'), 'The receiver answered 500'],
    [
      'redirects',
      status(302, { location: 'http://127.0.0.1:1/' }),
      'The receiver redirects (302); redirects are not followed',
    ],
    ['cuts the connection', cut, 'The receiver cut the connection'],
    ['fails with an endless body', endless(503), 'The receiver answered 503'],
  ])('that %s is reported in words', async (_what, answer, detail) => {
    receiver.answer(answer);
    expect(await sendMessage(webhook(), MESSAGE, options())).toEqual({ ok: false, detail });
    expect(receiver.received).toHaveLength(1);
  });

  test('that never answers is given up', async () => {
    receiver.answer(hang);
    const result = await sendMessage(webhook(), MESSAGE, options({ timeoutMs: 1_000 }));
    expect(result).toEqual({ ok: false, detail: 'No answer within 1 s' });
  });

  test('that accepts has accepted, whatever the length of its body', async () => {
    receiver.answer(endless(200));
    expect(await sendMessage(webhook(), MESSAGE, options())).toMatchObject({ ok: true });
  });

  test('that never ends a refusal is not read to its end', async () => {
    receiver.answer(endless(429));
    expect(await sendMessage(webhook(), MESSAGE, options())).toMatchObject({ ok: false });
  });

  test.each([
    ['in seconds', status(429, { 'retry-after': '7' }), 7_000],
    ['as Telegram does', status(429, {}, '{"ok":false,"parameters":{"retry_after":11}}'), 11_000],
    ['as Discord does', status(429, {}, '{"retry_after":0.5}'), 500],
    ['for longer than an hour', status(503, { 'retry-after': '90000' }), 3_600_000],
  ])('says how long to wait: %s', async (_how, answer, retryAfterMs) => {
    receiver.answer(answer);
    expect(await sendMessage(webhook(), MESSAGE, options())).toMatchObject({ ok: false, retryAfterMs });
  });

  test('with a certificate of an unknown authority gets nothing', async () => {
    const untrusted = await startUntrustedReceiver();
    onTestFinished(untrusted.close);
    const detail = 'The certificate of the receiver was not accepted';
    expect(await sendMessage(webhook(untrusted.url), MESSAGE, options())).toEqual({ ok: false, detail });
    expect(untrusted.requests()).toBe(0);
  });

  test('that is down is reported', async () => {
    await receiver.down();
    try {
      const result = await sendMessage(webhook(), MESSAGE, options());
      expect(result).toEqual({ ok: false, detail: 'The receiver refused the connection' });
    } finally {
      await receiver.up();
    }
  });
});

// Requirements: additions-alerts-11
describe('an address', () => {
  test.each([
    '127.0.0.1',
    '127.9.9.9',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '::127.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:0:a00:1::',
    'not an address',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
  test.each(['93.184.216.34', '1.1.1.1', '2606:4700:4700::1111', '::ffff:1.1.1.1'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test.each([
    'https://127.0.0.1/x',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/',
  ])('%s is refused before anything is sent', async (url) => {
    const result = await sendMessage(webhook(url), MESSAGE, options({ allowPrivate: false }));
    expect(result.ok).toBe(false);
    expect(result.detail).toContain('private network');
  });

  test('without TLS, or with a user name, is refused', async () => {
    const strict = options({ allowPrivate: false });
    expect((await sendMessage(webhook('http://example.com/'), MESSAGE, strict)).detail).toContain('https://');
    expect((await sendMessage(webhook('https://a:b@example.com/'), MESSAGE, strict)).detail).toContain(
      'user name',
    );
  });

  test('with one private address among its names is refused', async () => {
    const resolve = async () => [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const result = await sendMessage(
      webhook('https://example.com/'),
      MESSAGE,
      options({ allowPrivate: false, resolve }),
    );
    expect(result.detail).toContain('private network');
  });

  test('is connected to as it was checked, however the name resolves later', async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const { port } = new URL(receiver.url);
    const result = await sendMessage(
      webhook(`http://no-such-name.invalid:${port}/pinned`),
      MESSAGE,
      options({ resolve }),
    );
    expect(result).toMatchObject({ ok: true });
    expect(asked).toBe(1);
    expect(receiver.received[0]?.headers.host).toBe(`no-such-name.invalid:${port}`);
  });
});
