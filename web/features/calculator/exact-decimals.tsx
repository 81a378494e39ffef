import { formatDecimals } from '../../lib/format.ts';
import classes from './calculator.module.css';

/** Fixed decimals, followed by the full figure where they hide digits, as with PEPE. */
export function ExactDecimals({ value, decimals }: { value: string | null; decimals: number }) {
  const rounded = formatDecimals(value, decimals);
  if (value === null || Number(rounded) === Number(value)) return rounded;
  return (
    <>
      {rounded} <span className={classes.exact}>{value}</span>
    </>
  );
}
