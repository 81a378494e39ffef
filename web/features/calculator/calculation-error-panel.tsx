import { IconAlertCircle } from '@tabler/icons-react';
import { formatPrice } from '../../lib/format.ts';
import { Panel } from '../../ui/panel.tsx';
import classes from './calculator.module.css';
import { errorText, failureText, type Refusal, tellsRateLimit } from './request-failures.ts';

/** For a refused calculation, or one without an answer. */
interface CalculationErrorPanelProps {
  refusal: Refusal | null;
  error: Error | null;
}

export default function CalculationErrorPanel({ refusal, error }: CalculationErrorPanelProps) {
  const message = refusal === null ? errorText(error) : failureText(refusal);
  const title = refusal?.error;
  return (
    <Panel title="Calculation Error">
      <div className={classes.problem} role="alert">
        <IconAlertCircle size={24} className={classes.error} aria-hidden />
        <div className={classes.lines}>
          <strong>{title && title !== message ? `${title}: ${message}` : message}</strong>
          <span>{explain(message, refusal)}</span>
        </div>
      </div>
    </Panel>
  );
}

/** Explains two known causes; other errors show their details. */
function explain(message: string, refusal: Refusal | null): string {
  if (tellsRateLimit(message)) {
    return 'The exchange limits how often its prices can be asked for. Signal prices are used as fallback: calculate again in a moment.';
  }
  if (message.includes('33% limit')) {
    const available = refusal?.availableBalance ?? null;
    const balance = available === null ? 'is not known' : `is ${formatPrice(available)}`;
    return `An order may take at most 33% of the available balance. The current available balance ${balance}.`;
  }
  return refusal?.details ?? '';
}
