import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CalculatedPosition, PreviewAnswer } from '#contract/position-generator.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { formatDecimals, formatFraction, formatLeverage, formatPrice } from '../../lib/format.ts';
import { ExactDecimals } from '../../ui/exact-decimals.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import classes from './calculator.module.css';
import { EstimateNotice } from './order-notices.tsx';

interface MethodsCardProps {
  preview: UseQueryResult<PreviewAnswer>;
  chosenMethod: SizingMethod;
}

const TITLE = 'The three methods side by side';

type Method = PreviewAnswer['methods'][number];

/** A figure of the position; nothing for a refused one. */
const figure = (header: string, cell: (position: CalculatedPosition) => ReactNode): CardColumn<Method> => ({
  header,
  align: 'right',
  cell: ({ result }) => (result.success ? cell(result.position) : null),
});

const FIGURES = [
  figure('Entry', ({ entryPrice }) => <ExactDecimals value={entryPrice} />),
  figure('Stop Loss', ({ stopLoss }) => <ExactDecimals value={stopLoss} />),
  figure('Take Profit', ({ takeProfit }) => <ExactDecimals value={takeProfit} />),
  figure('Leverage', ({ leverage }) => formatLeverage(leverage)),
  figure(
    'Investment',
    ({ investment, investmentPortion }) =>
      `${formatPrice(investment)} (${formatFraction(investmentPortion, 1)})`,
  ),
  figure('Quantity', ({ assetQuantity, token }) => `${formatDecimals(assetQuantity, 6)} ${token}`),
  figure('Risk %', ({ riskPercentage }) => formatFraction(riskPercentage, 2)),
];

/** Previews the position of each method for this signal and user; nothing is saved. */
export default function MethodsCard({ preview, chosenMethod }: MethodsCardProps) {
  const name: CardColumn<Method> = {
    header: 'Method',
    place: 'title',
    cell: ({ method }) =>
      method === chosenMethod ? (
        <span>
          <strong>{method}</strong> <span className={classes.quiet}>chosen</span>
        </span>
      ) : (
        method
      ),
  };
  return (
    <Panel flush title={TITLE} description="A preview with the settings on the screen; nothing is saved">
      <QueryView query={preview} errorTitle="Failed to calculate the preview">
        {({ methods, isEstimate }) => (
          <>
            {isEstimate ? <EstimateNotice /> : null}
            <CardTable
              label={TITLE}
              columns={[name, ...FIGURES]}
              rows={methods}
              rowId={({ method }) => method}
              emptyText="The methods are missing in the answer"
              minWidth={700}
              faded={preview.isPlaceholderData}
              note={({ result }) =>
                result.success ? null : <span className={classes.error}>{result.error}</span>
              }
            />
          </>
        )}
      </QueryView>
    </Panel>
  );
}
