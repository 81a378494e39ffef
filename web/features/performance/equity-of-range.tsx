import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { EquityAnswer } from '#contract/performance.ts';
import { useAsTable } from '#web/charts/as-table.tsx';
import { EquityPicture } from '#web/charts/equity-picture.tsx';
import { formatMoney } from '../../lib/figures.ts';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './performance.module.css';
import type { ResultQuery } from './performance-range.ts';

export interface EquityOfRangeProps {
  query: ResultQuery;
}

/** What the accounts were worth in the range. Equity is of whole accounts: strategy and token cannot narrow it. */
export default function EquityOfRange({ query: { from, to, userId, processor, token } }: EquityOfRangeProps) {
  const { asTable, toggle } = useAsTable();
  const equity = useQuery<EquityAnswer>({
    queryKey: ['/api/performance/equity', { from, to, userId }],
    placeholderData: keepPreviousData,
  });
  const isNarrowed = processor !== undefined || token !== undefined;
  return (
    <Panel
      title="Equity and drawdown"
      description={`As recorded, open profit included${equity.data?.deposits === 'unknown' ? '; the drawdown may contain withdrawals' : ''}${isNarrowed ? '. Of whole accounts: the filters of strategy and token do not apply' : ''}`}
      aside={toggle}
    >
      <QueryView query={equity} errorTitle="Failed to fetch the equity">
        {(answer) =>
          answer.points.length < 2 ? (
            <EmptyState>Equity is recorded once an hour. This range has no two records yet.</EmptyState>
          ) : (
            <>
              <p className={classes.fall}>Max drawdown {fallOf(answer.maxDrawdown)}</p>
              <EquityPicture answer={answer} asTable={asTable} withFall />
            </>
          )
        }
      </QueryView>
    </Panel>
  );
}

/** '$1,234.00 (8.41%)' */
const fallOf = ({ amount, percent }: EquityAnswer['maxDrawdown']) =>
  `${formatMoney(amount)}${percent === null ? '' : ` (${percent}%)`}`;
