import { expect, test } from 'vitest';
import { settings } from './config-settings.ts';
import { unknownSettings } from './unknown-settings.ts';

test.each([
  ['AUTO_TRADES', 'AUTO_TRADE'],
  ['AUTO_TRADING', 'AUTO_TRADE'],
  ['auto_trade', 'AUTO_TRADE'],
  ['EXCHANGEMODE', 'EXCHANGE_MODE'],
  ['EXCHANGE_MODES', 'EXCHANGE_MODE'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DATADIR', 'DATA_DIR'],
  ['APPENV', 'APP_ENV'],
  ['BITGET_BASEURL', 'BITGET_BASE_URL'],
  ['BYBIT_BASE_URLS', 'BYBIT_BASE_URL'],
  ['WEBHOOK_RATELIMITS', 'WEBHOOK_RATE_LIMIT'],
  ['DELIVERIES_RETENTION_DAYS', 'DELIVERY_RETENTION_DAYS'],
])('says of %s that %s was probably meant', (name, known) => {
  expect(unknownSettings(['PATH', name])).toBe(
    `${JSON.stringify(name)} is no setting: did you mean ${known}?`,
  );
});

test('says all of them in one line', () => {
  expect(unknownSettings(['AUTO_TRADES', 'APPENV\n'])).toBe(
    '"AUTO_TRADES" is no setting: did you mean AUTO_TRADE? "APPENV\\n" is no setting: did you mean APP_ENV?',
  );
});

test('says nothing of settings and of ordinary variables of other programs', () => {
  const ordinary =
    `PATH HOME HOSTNAME HOSTTYPE USER LOGNAME SHELL TERM LANG LC_ALL PWD OLDPWD SHLVL TMPDIR TZ EDITOR
    LESSOPEN LS_COLORS MAIL DISPLAY XDG_DATA_DIRS XDG_RUNTIME_DIR XDG_SESSION_ID SSH_CONNECTION SSH_AUTH_SOCK
    DBUS_SESSION_BUS_ADDRESS INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET SYSTEMD_EXEC_PID HTTP_PROXY HTTPS_PROXY NO_PROXY
    ALL_PROXY http_proxy NODE_ENV NODE_OPTIONS NODE_PATH NODE_VERSION NPM_CONFIG_CACHE npm_package_name npm_config_user_agent
    npm_lifecycle_event INIT_CWD COLOR FORCE_COLOR NO_COLOR CI DEBUG PORTS HOSTS ENV APP_NAME APP_KEY APP_URL APP_ROOT
    PGDATA PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD POSTGRES_USER POSTGRES_PASSWORD POSTGRES_DB DATABASE_HOST
    DATABASE_PORT DATABASE_NAME MYSQL_PASSWORD DOMAIN COMPOSE_PROJECT_NAME DOCKER_HOST KUBERNETES_SERVICE_HOST
    KUBERNETES_PORT SECRET_KEY_BASE SECRET_KEY_FILE LOG_FILE LOG_FORMAT LOG_DIR DATA_PATH PUBLIC_IP PUBLIC_DIR INSTANCE_TYPE
    AWS_REGION AWS_SECRET_ACCESS_KEY GITHUB_TOKEN`.split(/\s+/);
  expect(unknownSettings([...ordinary, ...settings.map(({ name }) => name)])).toBeNull();
});
