import { formatPrice } from '../lib/format.ts';
import classes from './full-price.module.css';

/** A price with two decimals, and the whole price beside it where they cut something off. */
export function FullPrice({ price }: { price: string }) {
  const [, decimals = ''] = price.split('.');
  return (
    <>
      {formatPrice(price)}
      {decimals.length > 2 ? <span className={classes.full}> {price}</span> : null}
    </>
  );
}
