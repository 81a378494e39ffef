import { Button } from '@mantine/core';
import type { OrderResult } from '#contract/position-maker.ts';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import classes from './calculator.module.css';

/** On the screen for whoever closed the dialog or came back. */
export function OrderCard({ order, onOpen }: { order: OrderResult; onOpen: () => void }) {
  return (
    <Panel title="Order of This Calculation" aside={<Outcome order={order} />}>
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

function Outcome({ order }: { order: OrderResult }) {
  if (!order.done) return <Badge tone="info">Running</Badge>;
  return <Badge tone={order.success ? 'success' : 'failure'}>{order.success ? 'Filled' : 'Failed'}</Badge>;
}
