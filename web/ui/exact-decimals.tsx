import { formatDecimals } from '../lib/format.ts';
import classes from './full-price.module.css';

interface ExactDecimalsProps {
  value: string | null;
  decimals?: number;
}

/** Fixed decimals, followed by the full figure where they hide digits, as with PEPE. */
export function ExactDecimals({ value, decimals = 4 }: ExactDecimalsProps) {
  const rounded = formatDecimals(value, decimals);
  if (value === null || Number(rounded) === Number(value)) return rounded;
  return (
    <>
      {rounded} <span className={classes.full}>{value}</span>
    </>
  );
}
