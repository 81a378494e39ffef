import { Button } from '@mantine/core';
import type { OrderResult } from '#contract/position-maker.ts';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import classes from './calculator.module.css';

/** Stays visible after the dialog closes, and when the user returns to the screen. */
export default function OrderCard({ order, onOpen }: { order: OrderResult; onOpen: () => void }) {
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
