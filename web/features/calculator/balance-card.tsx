import { IconAlertCircle, IconWallet } from '@tabler/icons-react';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AccountBalanceAnswer } from '#contract/position-maker.ts';
import { ApiError } from '../../lib/api-client.ts';
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
  if (query.isError) {
    const reason = unavailability(query.error);
    if (reason !== null) return <Unavailable>{reason}</Unavailable>;
    return (
      <div className={classes.problem} role="alert">
        <IconAlertCircle size={24} className={classes.error} aria-hidden />
        <div className={classes.lines}>
          <strong>Balance API Error</strong>
          <span>Please check API connection</span>
          <span className={classes.quiet}>{query.error.message}</span>
        </div>
      </div>
    );
  }
  const { success, data } = query.data;
  if (!success || !data?.futuresBalance) return <Unavailable />;
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

/** Why no balance is available; null when the exchange or the connection to it failed. */
function unavailability(error: Error): string | null {
  if (!(error instanceof ApiError) || ![404, 503].includes(error.status)) return null;
  const message = error.serverMessage ?? '';
  return message === '' || message.startsWith('Balance API Error') ? null : message;
}

function Unavailable({ children }: { children?: ReactNode }) {
  return (
    <div className={classes.problem} role="alert">
      <IconWallet size={24} className={classes.quiet} aria-hidden />
      <div className={classes.lines}>
        <strong>Balance information unavailable</strong>
        {children ? <span>{children}</span> : null}
      </div>
    </div>
  );
}
