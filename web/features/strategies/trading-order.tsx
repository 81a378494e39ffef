import { Button } from '@mantine/core';
import { useState } from 'react';
import type { StrategyView } from '#contract/strategies.ts';
import { formatCount } from '../../lib/format.ts';
import { lazily } from '../../ui/lazily.tsx';
import { Section } from '../../ui/section.tsx';
import classes from './strategies.module.css';

const TradingOrderDialog = lazily(() => import('./trading-order-dialog.tsx'));

/** Who of the strategy's users trades first, and what the others wait for. */
export function TradingOrder({ strategy }: { strategy: StrategyView }) {
  const [isEditing, setEditing] = useState(false);
  const { canary, rotation } = strategy;
  return (
    <Section
      title={
        <span className={classes.sectionHead}>
          Order of trading
          <Button size="xs" variant="default" onClick={() => setEditing(true)}>
            Edit order
          </Button>
        </span>
      }
    >
      <p className={classes.line}>
        {canary === null ? 'All users trade at once' : describeCanary(canary)}
        {rotation ? '. Users of the same trading order take turns at being first' : ''}
      </p>
      {isEditing ? <TradingOrderDialog strategy={strategy} onClose={() => setEditing(false)} /> : null}
    </Section>
  );
}

function describeCanary({
  users,
  withinSeconds,
  maxSlippageBps,
}: NonNullable<StrategyView['canary']>): string {
  const first = users === 1 ? 'user trades' : `${formatCount(users)} users trade`;
  return `Canary: the first ${first} alone. The others follow when the order is filled and protected within ${formatCount(withinSeconds)} s and at most ${formatCount(maxSlippageBps)} bps worse than the signal; otherwise nobody else trades`;
}
