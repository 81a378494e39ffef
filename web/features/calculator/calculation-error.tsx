import { IconAlertCircle } from '@tabler/icons-react';
import { formatPrice } from '../../lib/format.ts';
import { Panel } from '../../ui/panel.tsx';
import classes from './calculator.module.css';
import { tellsRateLimit } from './price-comparison.ts';

export interface CalculationProblem {
  /** What is wrong, in one or two words; absent when no answer came. */
  title: string | undefined;
  message: string;
  details: string;
  /** In USDT, as far as it is known. */
  availableBalance: string | null;
}

export function CalculationErrorPanel({ problem }: { problem: CalculationProblem }) {
  const { title, message } = problem;
  return (
    <Panel title="Calculation Error">
      <div className={classes.problem} role="alert">
        <IconAlertCircle size={24} className={classes.error} aria-hidden />
        <div className={classes.lines}>
          <strong>{title && title !== message ? `${title}: ${message}` : message}</strong>
          <span>{explain(problem)}</span>
        </div>
      </div>
    </Panel>
  );
}

/** Two causes are explained; other errors show their details. */
function explain({ message, details, availableBalance }: CalculationProblem): string {
  if (tellsRateLimit(message)) {
    return 'The exchange limits how often its prices can be asked for. Signal prices are used as fallback: calculate again in a moment.';
  }
  if (message.includes('33% limit')) {
    const balance = availableBalance === null ? 'is not known' : `is ${formatPrice(availableBalance)}`;
    return `An order may take at most 33% of the available balance. The current available balance ${balance}.`;
  }
  return details;
}
