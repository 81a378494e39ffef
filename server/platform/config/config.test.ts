import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, parseConfig, readEnvironment } from './config.ts';
import { describeSettings, settings, TRADINGVIEW_ADDRESSES } from './config-settings.ts';

const SECRET_KEY = 'k'.repeat(32);
const ORIGIN = 'an origin without a path, such as https://board.example.com';
const BARE_ORIGIN = 'an http:// or https:// address without a path, query or credentials';
const PROXIES = 'IP addresses, CIDR ranges or loopback, linklocal, uniquelocal, separated by commas';

describe('with nothing set', () => {
  // Requirements: settings-of-the-program-1
  test('gives every setting its documented default', () => {
    const { instanceId, ...config } = parseConfig({});
    expect(instanceId).toMatch(/^[0-9a-f-]{36}$/);
    expect(config).toEqual({
      host: '127.0.0.1',
      port: 3000,
      publicUrl: null,
      dataDir: resolve('./data'),
      databaseUrl: null,
      appEnv: 'production',
      autoTrade: { enabled: true, configured: true },
      exchangeMode: 'paper',
      exitScope: 'strategy',
      manualOrders: 'disabled',
      readAhead: false,
      deploymentId: null,
      adminUsername: 'admin@example.com',
      adminPassword: null,
      secretKey: null,
      secretKeyNext: null,
      isNewSecretKey: false,
      passwordCost: { memoryCost: 19_456, timeCost: 2, parallelism: 1 },
      exchangeProxyUrls: [],
      exchangeAddress: null,
      bitgetBaseUrl: null,
      bybitBaseUrl: null,
      exchangeTimeoutMs: 10_000,
      verifyFirstMs: null,
      verifySecondMs: null,
      cancelDelayMs: null,
      signalMaxAgeMinutes: 30,
      paperBalance: '10000',
      trustProxy: [],
      webhookAllowedIps: [],
      webhookRateLimit: 600,
      priceLogRetentionDays: 0,
      deliveryRetentionDays: 90,
      signalHashRetentionDays: 0,
      workflowRetentionDays: 0,
      workflowStepRetentionDays: 0,
      calculationRetentionDays: 0,
      orderEventRetentionDays: 0,
      displayTimezone: 'America/Los_Angeles',
      metricsToken: null,
      notifyPrivateAddresses: 'refused',
      heartbeatUrl: null,
      telegramBaseUrl: null,
      logLevel: 'info',
    });
  });

  test('treats an empty or blank value as unset', () => {
    const unset = parseConfig({});
    for (const value of ['', '  ']) {
      const config = parseConfig(Object.fromEntries(settings.map(({ name }) => [name, value])));
      expect(config).toEqual({ ...unset, instanceId: config.instanceId });
      expect(config.instanceId).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe('a bad value', () => {
  // Requirements: settings-of-the-program-1
  test.each([
    ['PORT', 'abc', 'a whole number from 0 to 65535'],
    ['PORT', '65536', 'a whole number from 0 to 65535'],
    ['PORT', '1e3', 'a whole number from 0 to 65535'],
    ['HOST', 'a b', 'an IP address or a host name'],
    ['PUBLIC_URL', 'board.example.com', ORIGIN],
    ['PUBLIC_URL', 'ftp://board.example.com', ORIGIN],
    ['AUTO_TRADE', 'true', 'enabled or disabled'],
    ['EXCHANGE_MODE', 'test', 'paper, demo or live'],
    ['ADMIN_USERNAME', 'admin', 'an e-mail address of 3 to 50 characters'],
    ['BITGET_BASE_URL', 'ftp://x', BARE_ORIGIN],
    ['PRICE_LOG_RETENTION_DAYS', '29', '0 (all are kept) or days from 30 to 36500'],
    ['DELIVERY_RETENTION_DAYS', '-1', '0 (all are kept) or days from 30 to 36500'],
    ['EXCHANGE_TIMEOUT_MS', '0', 'milliseconds from 100 to 120000'],
    ['VERIFY_FIRST_MS', '-1', 'milliseconds from 0 to 120000'],
    ['SIGNAL_MAX_AGE_MINUTES', '0', 'minutes from 1 to 10080'],
    ['PAPER_BALANCE', '0', 'a positive amount such as 10000'],
    ['DISPLAY_TIMEZONE', 'Mars/Olympus', 'an IANA time zone such as Europe/Berlin'],
    ['EXCHANGE_ADDRESS', 'rack 1', '1 to 40 letters, digits, dots, hyphens or underscores'],
    ['WEBHOOK_ALLOWED_IPS', '1.2.3', 'IP addresses, CIDR ranges or tradingview, separated by commas'],
    ['TRUST_PROXY', '10.0.0.0/33', PROXIES],
    ['TRUST_PROXY', '0.0.0.0/0', PROXIES],
    ['LOG_LEVEL', 'loud', 'trace, debug, info, warn, error, fatal or silent'],
  ])(
    'of %s (%s) is refused with one line that names the setting, its value and what it takes',
    (name, value, takes) => {
      const message = `${name} is "${value}"; it takes ${takes}`;
      expect(() => parseConfig({ [name]: value })).toThrow(new ConfigError(message));
    },
  );

  test.each([
    ['SECRET_KEY', 'canary-too-short', 'at least 32 characters, 8 of them different'],
    ['ADMIN_PASSWORD', 'canar', '12 to 100 characters, none of the most used passwords'],
    ['METRICS_TOKEN', 'canary', 'at least 16 characters'],
    ['DATABASE_URL', 'mysql://u:canary@h/d', 'an address that begins with postgres://'],
    ['EXCHANGE_PROXY_URL', 'socks://u:canary@h', 'http:// or https:// addresses, separated by commas'],
  ])('of the secret %s is not shown', (name, value, takes) => {
    const message = `${name} is a hidden value of ${value.length} characters; it takes ${takes}`;
    expect(() => parseConfig({ [name]: value })).toThrow(new ConfigError(message));
  });

  test.each(
    ['BITGET_BASE_URL', 'BYBIT_BASE_URL', 'TELEGRAM_BASE_URL', 'PUBLIC_URL'].flatMap((name) =>
      [
        'https://a.example/canary',
        'https://a.example/?canary',
        'https://canary:canary@a.example',
        'https://a.example/#canary',
      ].map((value) => [name, value] as const),
    ),
  )('of %s with more than an origin (%s) is refused without showing more', (name, value) => {
    const takes = name === 'PUBLIC_URL' ? ORIGIN : BARE_ORIGIN;
    const message = `${name} is "https://a.example/…"; it takes ${takes}`;
    expect(() => parseConfig({ [name]: value })).toThrow(new ConfigError(message));
  });

  test('of an address that cannot be read is hidden where it may have credentials', () => {
    const message = `BITGET_BASE_URL is a hidden value of 16 characters; it takes ${BARE_ORIGIN}`;
    expect(() => parseConfig({ BITGET_BASE_URL: 'canary@a.example' })).toThrow(new ConfigError(message));
  });

  test('is refused as an unknown argument', () => {
    expect(() => parseConfig({}, ['--port=1'])).toThrow(
      'Unknown argument "--port=1"; --help lists the settings',
    );
  });
});

describe('settings that depend on each other', () => {
  // Requirements: settings-of-the-program-3
  test('refuse live trading outside production', () => {
    expect(() => parseConfig({ EXCHANGE_MODE: 'live', APP_ENV: 'development' })).toThrow(
      'EXCHANGE_MODE is "live", which takes APP_ENV=production, and APP_ENV is "development"',
    );
    expect(parseConfig({ EXCHANGE_MODE: 'live' }).exchangeMode).toBe('live');
  });

  // Requirements: settings-of-the-program-4
  test('require a secret key with your own database', () => {
    const DATABASE_URL = 'postgres://u:p@db.example.com/board';
    expect(() => parseConfig({ DATABASE_URL })).toThrow(
      'SECRET_KEY is unset; with DATABASE_URL it is required',
    );
    expect(parseConfig({ DATABASE_URL, SECRET_KEY })).toMatchObject({
      databaseUrl: DATABASE_URL,
      secretKey: SECRET_KEY,
    });
  });

  // Requirements: settings-of-the-program-2
  test.each([
    [{}, true, true],
    [{ EXCHANGE_MODE: 'demo' }, false, false],
    [{ EXCHANGE_MODE: 'live' }, false, false],
    [{ EXCHANGE_MODE: 'live', AUTO_TRADE: 'enabled' }, true, true],
    [{ AUTO_TRADE: 'disabled' }, false, true],
    [{ APP_ENV: 'development' }, false, true],
    [{ APP_ENV: 'development', AUTO_TRADE: 'enabled' }, false, true],
  ])('with %j enable automatic trading: %s, configured: %s', (env, enabled, configured) => {
    expect(parseConfig(env).autoTrade).toEqual({ enabled, configured });
  });

  test.each([
    [{}, false],
    [{ EXCHANGE_MODE: 'demo' }, false],
    [{ EXCHANGE_MODE: 'live' }, false],
    [{ EXCHANGE_MODE: 'demo', READ_AHEAD: 'enabled' }, true],
  ])('with %j read accounts ahead: %s', (env, readAhead) => {
    expect(parseConfig(env).readAhead).toBe(readAhead);
  });
});

test.each([
  ['https://board.example.com', 'https://board.example.com'],
  ['https://Board.Example.com:443/', 'https://board.example.com'],
  ['http://localhost:3000', 'http://localhost:3000'],
])('reads PUBLIC_URL %s as the origin %s', (value, origin) => {
  expect(parseConfig({ PUBLIC_URL: value }).publicUrl).toBe(origin);
});

test('splits lists, and replaces tradingview by its four addresses', () => {
  const config = parseConfig({
    WEBHOOK_ALLOWED_IPS: 'tradingview, 10.0.0.0/8,::1',
    TRUST_PROXY: 'loopback,10.1.2.3',
    EXCHANGE_PROXY_URL: 'http://a:1,https://b',
  });
  expect(config.webhookAllowedIps).toEqual([...TRADINGVIEW_ADDRESSES, '10.0.0.0/8', '::1']);
  expect(config.trustProxy).toEqual(['loopback', '10.1.2.3']);
  expect(config.exchangeProxyUrls).toEqual(['http://a:1', 'https://b']);
});

// Requirements: settings-of-the-program-5
test('names every setting in the help and in .env.example', async () => {
  const example = await readFile(new URL('../../../.env.example', import.meta.url), 'utf8');
  const named = [...example.matchAll(/^#([A-Z_]+)=$/gm)].map((match) => match[1]);
  expect(named).toEqual(settings.map(({ name }) => name));
  for (const { name } of settings) expect(describeSettings()).toContain(`\n  ${name}\n`);
});

// Requirements: settings-of-the-program-5
test('reads .env, and prefers a variable of the environment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signal-board-config-'));
  try {
    expect(readEnvironment({ env: { PORT: '1' }, folder })).toEqual({ PORT: '1' });
    await writeFile(join(folder, '.env'), 'PORT=2\nHOST="0.0.0.0" # everywhere\n');
    expect(readEnvironment({ env: { PORT: '1' }, folder })).toEqual({ PORT: '1', HOST: '0.0.0.0' });
  } finally {
    await rm(folder, { recursive: true });
  }
});
