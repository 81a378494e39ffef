import { formatPrice } from '../lib/format.ts';
import classes from './full-price.module.css';

/** Two decimals hide the price of a cheap token: where they cut something off, the whole price stands beside it. */
export function FullPrice({ price }: { price: string }) {
  const [, decimals = ''] = price.split('.');
  return (
    <>
      {formatPrice(price)}
      {decimals.length > 2 ? <span className={classes.full}> {price}</span> : null}
    </>
  );
}
