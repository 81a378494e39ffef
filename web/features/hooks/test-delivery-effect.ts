import type { EnvironmentStatus } from '#contract/environment.ts';
import type { TestKind } from './test-delivery-fields.ts';

type Trading = Pick<EnvironmentStatus, 'exchangeMode' | 'autoTradeEnabled'>;

interface Sender {
  isAdmin: boolean;
  /** Null when it is not known; ordinary users are not told. */
  trading: Trading | null;
}

/** The server refuses them then: no test button moves real money, nor the stops that protect it. */
export const areTestsRefused = (trading: Trading | null): boolean =>
  trading?.exchangeMode === 'live' && trading.autoTradeEnabled;

/** What a test delivery will do, before it is sent. */
export function testDeliveryEffect(kind: TestKind, sender: Sender): string {
  if (areTestsRefused(sender.trading)) {
    return 'Real money is traded automatically at the moment: test deliveries are refused.';
  }
  return kind === 'signal' ? signalEffect(sender) : candleEffect(sender);
}

function signalEffect({ isAdmin, trading }: Sender): string {
  if (!isAdmin) {
    return (
      'It counts like a real signal, for you alone. A position is opened for you if automatic trading is on ' +
      'and you are eligible; while real money is traded automatically, test deliveries are refused.'
    );
  }
  return `It counts like a real signal, for every eligible user. ${positionsText(trading)}`;
}

function positionsText(trading: Trading | null): string {
  if (trading === null) return 'Whether positions are opened now is not known.';
  if (!trading.autoTradeEnabled) return 'Automatic trading is off: no position is opened now.';
  switch (trading.exchangeMode) {
    case 'paper':
      return 'Automatic trading is on: positions are opened now, on the paper exchange, without real money.';
    case 'demo':
      return 'Automatic trading is on: positions are opened now, in demo trading, without real money.';
    default:
      return 'Automatic trading is on: positions are opened now.';
  }
}

function candleEffect({ isAdmin, trading }: Sender): string {
  if (!isAdmin) {
    return 'It counts like a real candle, for your own signals alone: those that follow are matched with it. It opens no position.';
  }
  const paper = trading?.exchangeMode === 'paper' ? ' Its close moves the price of the paper exchange.' : '';
  return `It counts like a real candle, for everybody: signals that follow are matched with it. It opens no position.${paper}`;
}
