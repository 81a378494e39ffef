import { formatReceivedPrice } from '../lib/figures.ts';
import classes from './full-price.module.css';

/** A price with two decimals, plus the full price where they truncate it. */
export function FullPrice({ price }: { price: string }) {
  const [, decimals = ''] = price.split('.');
  return (
    <>
      {formatReceivedPrice(price)}
      {decimals.length > 2 ? <span className={classes.full}> {price}</span> : null}
    </>
  );
}
