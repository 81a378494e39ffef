import { orderSubmissionAllowed } from '#domain/eligibility/trading-mode.ts';
import type { FirstAdministrator } from './admin/users/ensure-first-administrator.ts';
import type { Config } from './platform/config/config.ts';

const RULE = '─'.repeat(72);

/** The only block that a start prints for its operator. */
export function startNotice(options: {
  config: Config;
  port: number;
  /** The administrator that this start created; null when users already existed. */
  firstAdministrator: FirstAdministrator | null;
}): string {
  const { config, port, firstAdministrator: first } = options;
  const rows = [
    ['Address', address(config.host, port)],
    ...(config.publicUrl === null ? [] : [['Public URL', config.publicUrl] as const]),
    ['User name', first?.username ?? 'as set before'],
    ['Password', password(first)],
    ['Mode', mode(config)],
    [
      'Data',
      config.databaseUrl === null
        ? `${config.dataDir} (embedded PostgreSQL)`
        : 'your PostgreSQL (DATABASE_URL)',
    ],
  ] as const;
  const lines = [
    RULE,
    '  Signal Board is running',
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`),
    ...remarks(config),
    RULE,
  ];
  return `\n${lines.join('\n')}\n`;
}

function address(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') {
    return `http://localhost:${port} (HOST is ${host}: open to everybody who reaches this machine)`;
  }
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function password(first: FirstAdministrator | null): string {
  if (first === null) return 'as set before   (forgotten: npm run reset-password)';
  return first.password === null ? 'from ADMIN_PASSWORD' : `${first.password}   (shown only this once)`;
}

const MODES: Record<Config['exchangeMode'], string> = {
  paper: 'paper: orders go to the built-in exchange, no real money',
  demo: "demo: orders go to the exchanges' demo trading, no real money",
  live: 'LIVE: orders are real money',
};

function mode(config: Config): string {
  const trading = config.autoTrade.enabled ? 'on' : 'off';
  const reason = config.appEnv === 'production' ? '' : ` (APP_ENV is ${config.appEnv})`;
  return `${MODES[config.exchangeMode]}; automatic trading ${trading}${reason}, ${ordersByHand(config)}`;
}

/** Names the setting when the setting decides. */
function ordersByHand({ appEnv: environment, exchangeMode, manualOrders }: Config): string {
  const state = { environment, exchangeMode };
  const isDecided = !orderSubmissionAllowed({ ...state, manualOrders: 'disabled' });
  const isOn = orderSubmissionAllowed({ ...state, manualOrders });
  return `orders by hand ${isOn ? 'on' : 'off'}${isDecided ? ' (MANUAL_ORDERS)' : ''}`;
}

function remarks(config: Config): string[] {
  if (config.exchangeMode !== 'live' || config.databaseUrl !== null) return [];
  return ['', '  Live trading on the embedded database: backups and a second machine need DATABASE_URL.'];
}
