import type { AdminSettingsBody } from '#contract/settings.ts';

export interface DemoUser {
  username: string;
  firstName: string;
  lastName: string;
  activeTrading: boolean;
  settings: AdminSettingsBody;
}

const PAUSE_DAYS = 30;

/** Six traders of all three sizing methods; between them they show most reasons for not trading a signal. */
export function demoUsers(now: Date): DemoUser[] {
  return [
    {
      username: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Lovelace',
      activeTrading: true,
      settings: {
        positionSizingMethod: 'Risk Management',
        investmentPortion: null,
        maximumRiskPerTrade: '0.02',
        signalProcessor: 'Any',
        tradeOrderSet: 'A',
      },
    },
    {
      username: 'grace@example.com',
      firstName: 'Grace',
      lastName: 'Hopper',
      activeTrading: true,
      settings: {
        positionSizingMethod: 'Portfolio Allocation',
        investmentPortion: '0.10',
        maximumRiskPerTrade: '0.05',
        signalProcessor: 'Tesla',
        tradeOrderSet: 'B',
      },
    },
    {
      username: 'alan@example.com',
      firstName: 'Alan',
      lastName: 'Turing',
      activeTrading: true,
      settings: {
        positionSizingMethod: 'Technical Analysis',
        investmentPortion: '0.05',
        maximumRiskPerTrade: null,
        signalProcessor: 'Any',
        tradeOrderSet: 'C',
      },
    },
    {
      username: 'edsger@example.com',
      firstName: 'Edsger',
      lastName: 'Dijkstra',
      activeTrading: true,
      settings: {
        positionSizingMethod: 'Technical Analysis',
        investmentPortion: '0.10',
        maximumRiskPerTrade: null,
        signalProcessor: 'UD Bot',
        signalTimeframe: '5m',
        tradeOrderSet: 'M',
        oppositeSignal: 'skip',
      },
    },
    {
      username: 'barbara@example.com',
      firstName: 'Barbara',
      lastName: 'Liskov',
      activeTrading: true,
      settings: {
        positionSizingMethod: 'Portfolio Allocation',
        investmentPortion: '0.05',
        maximumRiskPerTrade: '0.02',
        signalProcessor: 'Any',
        tradeOrderSet: 'D',
        tradingPausedUntil: new Date(now.getTime() + PAUSE_DAYS * 86_400_000).toISOString(),
      },
    },
    {
      username: 'donald@example.com',
      firstName: 'Donald',
      lastName: 'Knuth',
      activeTrading: false,
      settings: {
        positionSizingMethod: 'Risk Management',
        investmentPortion: null,
        maximumRiskPerTrade: '0.05',
        signalProcessor: 'Any',
        signalTimeframe: '1h',
        tradeOrderSet: 'Z',
      },
    },
  ];
}
