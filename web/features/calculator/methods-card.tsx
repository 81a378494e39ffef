import type { UseQueryResult } from '@tanstack/react-query';
import type { Preview, PreviewAnswer } from '#contract/position-generator.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import { formatDecimals, formatFraction, formatLeverage, formatPrice } from '../../lib/format.ts';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { ExactDecimals } from './exact-decimals.tsx';
import { EstimateNotice } from './order-notices.tsx';
import classes from './table.module.css';

interface MethodsCardProps {
  preview: UseQueryResult<PreviewAnswer>;
  chosenMethod: SizingMethod;
}

const TITLE = 'The three methods side by side';
const COLUMNS = ['Entry', 'Stop Loss', 'Take Profit', 'Leverage', 'Investment', 'Quantity', 'Risk %'];

/** Previews the position of each method for this signal and user; nothing is saved. */
export function MethodsCard({ preview, chosenMethod }: MethodsCardProps) {
  return (
    <Panel title={TITLE} description="A preview with the settings on the screen; nothing is saved">
      <QueryView query={preview} errorTitle="Failed to calculate the preview">
        {({ methods, isEstimate }) => (
          <>
            {isEstimate ? <EstimateNotice /> : null}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
            <section className={classes.scroll} aria-label={TITLE} tabIndex={0}>
              <table
                className={classes.table}
                aria-label={TITLE}
                aria-busy={preview.isPlaceholderData || undefined}
              >
                <thead>
                  <tr>
                    <th scope="col">Method</th>
                    {COLUMNS.map((name) => (
                      <th key={name} scope="col" data-align="right">
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {methods.map(({ method, result }) => (
                    <tr key={method} data-chosen={method === chosenMethod || undefined}>
                      <th scope="row">
                        {method}
                        {method === chosenMethod ? <span className={classes.mark}>chosen</span> : null}
                      </th>
                      <Figures result={result} />
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          </>
        )}
      </QueryView>
    </Panel>
  );
}

function Figures({ result }: { result: Preview }) {
  if (!result.success) {
    return (
      <td colSpan={COLUMNS.length} className={classes.refused}>
        <span>{result.error}</span>
      </td>
    );
  }
  const { position } = result;
  const cells = [
    <ExactDecimals key="entry" value={position.entryPrice} decimals={4} />,
    <ExactDecimals key="stop" value={position.stopLoss} decimals={4} />,
    <ExactDecimals key="target" value={position.takeProfit} decimals={4} />,
    formatLeverage(position.leverage),
    `${formatPrice(position.investment)} (${formatFraction(position.investmentPortion, 1)})`,
    `${formatDecimals(position.assetQuantity, 6)} ${position.token}`,
    formatFraction(position.riskPercentage, 2),
  ];
  return cells.map((cell, index) => (
    <td key={COLUMNS[index]} data-align="right">
      {cell}
    </td>
  ));
}
