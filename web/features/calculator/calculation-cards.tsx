import { Button } from '@mantine/core';
import type { GenerateAnswer, CalculatedPosition as Position } from '#contract/position-generator.ts';
import type { OrderResult } from '#contract/position-maker.ts';
import { formatDecimals, formatFraction, formatLeverage, formatPrice } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Panel } from '../../ui/panel.tsx';
import classes from './calculator.module.css';
import type { PriceComparison } from './compare-price.ts';
import { ExactDecimals } from './exact-decimals.tsx';
import { EstimateNotice } from './order-notices.tsx';
import table from './table.module.css';

type Calculation = Extract<GenerateAnswer, { success: true }>;

interface CalculatedPositionProps {
  answer: Calculation;
  price: PriceComparison | undefined;
}

/** The content of the card 'Position Parameters'. */
export function CalculatedPosition({ answer, price }: CalculatedPositionProps) {
  return (
    <div className={classes.stack}>
      {answer.isEstimate ? <EstimateNotice>{answer.message}</EstimateNotice> : null}
      <PositionFacts position={answer.position} />
      <p className={classes.note}>
        <strong>{price?.title}:</strong> {price?.text}
      </p>
    </div>
  );
}

function PositionFacts({ position }: { position: Position }) {
  return (
    <Facts
      facts={[
        ['Sizing Method', position.method],
        ['Entry Price', <ExactDecimals key="entry" value={position.entryPrice} decimals={4} />],
        ['Stop Loss', <ExactDecimals key="stop" value={position.stopLoss} decimals={4} />],
        ['Take Profit', <ExactDecimals key="target" value={position.takeProfit} decimals={4} />],
        ['Risk %', formatFraction(position.riskPercentage, 2)],
        ['Investment', formatPrice(position.investment)],
        ['Investment Portion', formatFraction(position.investmentPortion, 1)],
        [
          'Leverage',
          `${formatLeverage(position.leverage)} (${position.aligned ? 'aligned with' : 'opposed to'} the trend)`,
        ],
        ['Quantity (USDT)', formatPrice(position.quantity)],
        ['Asset Quantity', `${formatDecimals(position.assetQuantity, 6)} ${position.token}`],
        ['Reference Price', `${position.referencePrice} (${position.priceSource})`],
        [
          'ATR',
          position.atr === null ? 'none' : <ExactDecimals key="atr" value={position.atr} decimals={2} />,
        ],
        ['Available Balance', formatPrice(position.availableBalance)],
      ]}
    />
  );
}

/** How the position was calculated: the reason, the method, the calculation lines and all parameters used. */
export function CalculationCards({ calculation }: { calculation: Calculation }) {
  const { hyperparameters, calculationReason, calculationDetail, methodology } = calculation;
  return (
    <>
      <Panel title="Calculation Reasoning">
        <p className={classes.text}>{calculationReason}</p>
      </Panel>
      <Panel title="Calculation Methodology">
        <ol className={classes.methodology}>
          {methodology.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ol>
      </Panel>
      <Panel title="Calculation Details">
        <div className={classes.detail}>{calculationDetail}</div>
      </Panel>
      <Panel title="Calculation Hyperparameters" description="Every figure in force, and where it comes from">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
        <section className={table.scroll} aria-label="Calculation Hyperparameters" tabIndex={0}>
          <table className={table.table} aria-label="Calculation Hyperparameters">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Value</th>
                <th scope="col">Source</th>
              </tr>
            </thead>
            <tbody>
              {hyperparameters.map(({ name, value, source }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{value}</td>
                  <td className={table.source}>{source}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </Panel>
    </>
  );
}

/** Stays visible after the dialog closes, and when the user returns to the screen. */
export function OrderCard({ order, onOpen }: { order: OrderResult; onOpen: () => void }) {
  const outcome = order.success ? <Badge tone="success">Filled</Badge> : <Badge tone="failure">Failed</Badge>;
  return (
    <Panel
      title="Order of This Calculation"
      aside={order.done ? outcome : <Badge tone="info">Running</Badge>}
    >
      <p className={classes.text} role="status">
        {order.error ?? order.message}
      </p>
      <div className={classes.actions}>
        <Button variant="default" onClick={onOpen}>
          {order.done ? 'Show result' : 'Show progress'}
        </Button>
      </div>
    </Panel>
  );
}
