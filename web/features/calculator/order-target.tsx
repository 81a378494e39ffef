import { Alert } from '@mantine/core';
import { IconCoins } from '@tabler/icons-react';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import classes from './calculator.module.css';

interface OrderTargetProps {
  exchange: string;
  /** Undefined while unknown. */
  mode: ExchangeMode | undefined;
}

/** Where the order goes, and whether it trades real money. */
export default function OrderTarget({ exchange, mode }: OrderTargetProps) {
  if (mode === 'live') {
    return (
      <Alert color="red" icon={<IconCoins aria-hidden />}>
        The order goes to {exchange} in live mode. Real money is traded.
      </Alert>
    );
  }
  if (mode !== 'demo' && mode !== 'paper') return null;
  const place = mode === 'demo' ? `${exchange} in demo mode` : 'the paper exchange';
  return <p className={classes.text}>The order goes to {place}. No real money is traded.</p>;
}
