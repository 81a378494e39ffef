import { IconActivity, IconCalculator, IconShieldCheck, IconTrendingUp } from '@tabler/icons-react';
import { Brand } from '../../ui/brand.tsx';
import classes from './marketing-panel.module.css';

const STRENGTHS = [
  { icon: IconActivity, title: 'Real-time signals', text: 'Buy and sell alerts the moment they fire' },
  {
    icon: IconCalculator,
    title: 'Position calculator',
    text: 'Entry, stop loss and take profit in one step',
  },
  { icon: IconShieldCheck, title: 'Risk management', text: 'Per-trade and portfolio limits, enforced' },
  { icon: IconTrendingUp, title: 'Profit optimization', text: 'Targets set from market volatility' },
];

/** Wick top, wick bottom, body top, body bottom of each candle, in drawing units. */
const CANDLES = [
  [78, 124, 96, 124],
  [80, 121, 100, 117],
  [89, 128, 111, 121],
  [73, 119, 86, 112],
  [66, 107, 77, 101],
  [57, 92, 79, 86],
  [55, 100, 65, 92],
  [42, 84, 50, 78],
  [35, 70, 54, 62],
  [28, 75, 36, 67],
  [15, 55, 23, 47],
  [8, 43, 27, 35],
] as const;

export function MarketingPanel() {
  return (
    <section className={classes.panel} aria-label="About Signal Board">
      <Brand inverted />
      <div className={classes.middle}>
        <p className={classes.headline}>
          Smart trading solutions,
          <br />
          from signal to order.
        </p>
        <p className={classes.lead}>
          Receive signals, size positions and submit orders with the risk rules built in.
        </p>
        <svg className={classes.chart} viewBox="0 0 560 152" aria-hidden="true">
          {CANDLES.map(([high, low, top, bottom], index) => {
            const x = 24 + index * 44;
            return (
              <g key={x}>
                <rect x={x - 1} y={high} width="2" height={low - high} />
                <rect x={x - 9} y={top} width="18" height={bottom - top} rx="2" />
              </g>
            );
          })}
        </svg>
        <ul className={classes.strengths}>
          {STRENGTHS.map(({ icon: Icon, title, text }) => (
            <li key={title}>
              <Icon size={18} aria-hidden />
              <div>
                <strong>{title}</strong>
                <span>{text}</span>
              </div>
            </li>
          ))}
        </ul>
      </div>
      <small className={classes.foot}>© Signal Board</small>
    </section>
  );
}
