import { Button } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import type { GenerateAnswer } from '#contract/position-generator.ts';
import type { OrderResult } from '#contract/position-maker.ts';
import { CardTable } from '#web/lists/card-table.tsx';
import { formatPrice } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import classes from './calculator.module.css';
import { errorText, failureText, type Refusal, tellsRateLimit } from './request-failures.ts';

/** How the position was calculated: the reason, the method, the calculation lines and all parameters used. */
export function CalculationCards(props: { calculation: Extract<GenerateAnswer, { success: true }> }) {
  const { hyperparameters, calculationReason, calculationDetail, methodology } = props.calculation;
  return (
    <>
      <Panel title="Calculation Reasoning">
        <p className={classes.text}>{calculationReason}</p>
      </Panel>
      <Panel title="Calculation Methodology">
        <ol className={classes.methodology}>
          {methodology.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ol>
      </Panel>
      <Panel title="Calculation Details">
        <div className={classes.detail}>{calculationDetail}</div>
      </Panel>
      <Panel
        flush
        title="Calculation Hyperparameters"
        description="Every figure in force, and where it comes from"
      >
        <CardTable
          label="Calculation Hyperparameters"
          columns={[
            { header: 'Name', place: 'title', cell: ({ name }) => name },
            { header: 'Value', cell: ({ value }) => value },
            { header: 'Source', cell: ({ source }) => source },
          ]}
          rows={hyperparameters}
          rowId={({ name }) => name}
          emptyText="The figures are missing in the answer"
          minWidth={600}
        />
      </Panel>
    </>
  );
}

/** Stays visible after the dialog closes, and when the user returns to the screen. */
export function OrderCard({ order, onOpen }: { order: OrderResult; onOpen: () => void }) {
  const outcome = order.success ? <Badge tone="success">Filled</Badge> : <Badge tone="failure">Failed</Badge>;
  return (
    <Panel
      title="Order of This Calculation"
      aside={order.done ? outcome : <Badge tone="info">Running</Badge>}
    >
      <p className={classes.text} role="status">
        {order.error ?? order.message}
      </p>
      <div className={classes.actions}>
        <Button variant="default" onClick={onOpen}>
          {order.done ? 'Show result' : 'Show progress'}
        </Button>
      </div>
    </Panel>
  );
}

/** For a refused calculation, or one without an answer. */
export function CalculationErrorPanel({ refusal, error }: { refusal: Refusal | null; error: Error | null }) {
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
