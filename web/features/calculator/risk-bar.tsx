import type { CalculatedPosition } from '#contract/position-generator.ts';
import { formatMoney } from '../../lib/figures.ts';
import { formatFraction } from '../../lib/format.ts';
import { outcomesOf } from './order-outcomes.ts';
import classes from './risk-bar.module.css';

/** What the calculated position risks and promises, in sight while the page scrolls. Before fees. */
export default function RiskBar({ position }: { position: CalculatedPosition }) {
  const { loss, win, inR, lossShare } = outcomesOf(position);
  return (
    <section className={classes.bar} aria-label="Risk and reward">
      <dl>
        <div>
          <dt>Risk</dt>
          <dd>
            {formatMoney(loss)} <span>({formatFraction(lossShare, 2)})</span>
          </dd>
        </div>
        <div>
          <dt>Reward</dt>
          <dd>{formatMoney(win)}</dd>
        </div>
        <div>
          <dt>R</dt>
          <dd>{inR}</dd>
        </div>
      </dl>
    </section>
  );
}
