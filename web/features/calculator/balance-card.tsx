import { IconAlertCircle, IconWallet } from '@tabler/icons-react';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AccountBalanceAnswer } from '#contract/position-maker.ts';
import { isStatus, serverMessage } from '../../lib/api-client.ts';
import { formatPrice } from '../../lib/format.ts';
import { Facts } from '../../ui/facts.tsx';
import { Panel } from '../../ui/panel.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import { LoadingState } from '../../ui/states.tsx';
import classes from './calculator.module.css';
import { refreshAccount, useAccountBalance } from './calculator-data.ts';

export function BalanceCard({ userId }: { userId: string }) {
  const client = useQueryClient();
  const query = useAccountBalance(userId);
  return (
    <Panel
      title="Account Balance"
      aside={
        <RefreshButton
          size="compact-sm"
          busy={query.isFetching}
          onRefresh={() => void refreshAccount(client)}
        >
          Refresh balance
        </RefreshButton>
      }
    >
      <Content query={query} />
    </Panel>
  );
}

function Content({ query }: { query: UseQueryResult<Partial<AccountBalanceAnswer>> }) {
  if (query.isPending) return <LoadingState label="Loading account balance..." />;
  if (query.isError && isUnreachable(query.error)) {
    return (
      <Problem Icon={IconAlertCircle} title="Balance API Error">
        <span>Please check API connection</span>
        <span className={classes.quiet}>{query.error.message}</span>
      </Problem>
    );
  }
  const { success, data } = query.data ?? {};
  if (!success || !data?.futuresBalance) {
    return (
      <Problem Icon={IconWallet} title="Balance information unavailable">
        {query.isError ? <span>{serverMessage(query.error, '')}</span> : null}
      </Problem>
    );
  }
  return (
    <Facts
      columns={2}
      facts={[
        ['Account Type', 'Futures (USDT)'],
        ['Exchange', data.exchangePlatform],
        ['Balance', formatPrice(data.futuresBalance)],
        ['Available', formatPrice(data.futuresAvailable)],
        ['Frozen', formatPrice(data.futuresLocked)],
        ['In positions', formatPrice(data.futuresInPositions)],
        ['Spot Balance', formatPrice(data.spotBalance)],
      ]}
    />
  );
}

/** Whether the exchange or the connection to it failed; otherwise the server says why there is no balance. */
function isUnreachable(error: Error): boolean {
  const reason = isStatus(error, 404) || isStatus(error, 503) ? serverMessage(error, '') : '';
  return reason === '' || reason.startsWith('Balance API Error');
}

interface ProblemProps {
  Icon: typeof IconWallet;
  title: string;
  children: ReactNode;
}

function Problem({ Icon, title, children }: ProblemProps) {
  return (
    <div className={classes.problem} role="alert">
      <Icon size={24} className={classes.error} aria-hidden />
      <div className={classes.lines}>
        <strong>{title}</strong>
        {children}
      </div>
    </div>
  );
}
