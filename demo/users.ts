import type { AdminSettingsBody } from '#contract/settings.ts';
import type { User, UsersAnswer } from '#contract/users.ts';
import { SIZING_METHOD_DEFAULTS, type SizingMethod } from '#domain/user-settings.ts';
import type { ProgramClient } from './program-client.ts';

const IN_A_MONTH = new Date(Date.now() + 30 * 86_400_000).toISOString();

/** Traders with all three sizing methods; together they show most reasons for not trading a signal. */
const TRADERS = [
  trader('Ada Lovelace', 'Risk Management', { maximumRiskPerTrade: '0.02', tradeOrderSet: 'A' }),
  trader('Grace Hopper', 'Portfolio Allocation', { signalProcessor: 'Tesla', tradeOrderSet: 'B' }),
  trader('Alan Turing', 'Technical Analysis', { tradeOrderSet: 'C' }),
  trader('Edsger Dijkstra', 'Technical Analysis', {
    investmentPortion: '0.10',
    signalProcessor: 'UD Bot',
    signalTimeframe: '5m',
    oppositeSignal: 'skip',
  }),
  trader('Barbara Liskov', 'Portfolio Allocation', {
    investmentPortion: '0.05',
    maximumRiskPerTrade: '0.02',
    tradeOrderSet: 'D',
    tradingPausedUntil: IN_A_MONTH,
  }),
  {
    ...trader('Donald Knuth', 'Risk Management', { signalTimeframe: '1h', tradeOrderSet: 'Z' }),
    activeTrading: false,
  },
];

function trader(name: string, positionSizingMethod: SizingMethod, settings: AdminSettingsBody) {
  const [firstName = '', lastName = ''] = name.split(' ');
  return {
    account: { username: `${firstName.toLowerCase()}@example.com`, firstName, lastName },
    settings: {
      positionSizingMethod,
      ...SIZING_METHOD_DEFAULTS[positionSizingMethod],
      signalProcessor: 'Any',
      ...settings,
    },
    activeTrading: true,
  };
}

/** Creates the users that do not exist yet and leaves the others as they are. */
export async function ensureUsers(options: {
  client: ProgramClient;
  password: string;
}): Promise<{ created: number }> {
  const { client, password } = options;
  const { users } = await client.get<UsersAnswer>('/api/admin/users');
  const present = new Set(users.map(({ username }) => username));
  const missing = TRADERS.filter(({ account }) => !present.has(account.username));
  for (const { account, settings, activeTrading } of missing) {
    const { user } = await client.post<{ user: User }>('/api/admin/create-client', { ...account, password });
    await client.put(`/api/admin/user-settings/${user.id}`, settings);
    if (activeTrading) await client.put(`/api/admin/user/${user.id}/active-trading`, { activeTrading });
  }
  return { created: missing.length };
}
