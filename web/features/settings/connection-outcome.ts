import type { ConnectionTest, SavedExchangeCredentials } from '#contract/exchange-credentials.ts';
import { formatPrice } from '../../lib/format.ts';

/** Result of the last save or test, shown on the card until the next one. */
export interface ConnectionOutcome {
  color: 'teal' | 'yellow' | 'red' | 'indigo';
  title: string;
  text: string;
}

export function outcomeOfTest(test: ConnectionTest): ConnectionOutcome {
  if (test.success) {
    const balance = formatPrice(test.futuresBalance);
    const available = formatPrice(test.futuresAvailable);
    return {
      color: 'teal',
      title: test.message,
      text: `Futures balance ${balance}, of which ${available} is available (USDT)`,
    };
  }
  return test.error === 'unreachable'
    ? { color: 'yellow', title: 'Not tested', text: test.message }
    : { color: 'red', title: 'The connection does not work', text: test.message };
}

export function outcomeOfSave({ test }: SavedExchangeCredentials): ConnectionOutcome {
  if (test === null) {
    return {
      color: 'indigo',
      title: 'Saved',
      text: 'Paper trading needs no credentials: they are used once the system trades in demo or live mode.',
    };
  }
  if (test.success) return outcomeOfTest(test);
  return {
    color: 'yellow',
    title: test.error === 'unreachable' ? 'Saved, but not tested' : 'Saved, but the connection does not work',
    text: test.message,
  };
}
