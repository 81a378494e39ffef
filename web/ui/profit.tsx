import { formatProfit, profitDirection } from '../lib/figures.ts';

const LOOKS = { gain: 'buy', loss: 'sell', even: '' } as const;

/** A gain is green with a plus sign, a loss red with a minus sign. */
export function Profit({ amount, aside }: { amount: string | null; aside?: string }) {
  return (
    <span className={LOOKS[profitDirection(amount)]}>
      {formatProfit(amount)}
      {aside === undefined ? null : ` (${aside})`}
    </span>
  );
}
