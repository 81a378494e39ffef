import { IconAlertCircle, IconWallet } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AccountBalanceAnswer } from '#contract/position-maker.ts';
import { ApiError } from '../../lib/api-client.ts';
import { formatPrice } from '../../lib/format.ts';
import { Facts } from '../../ui/facts.tsx';
import { Panel } from '../../ui/panel.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import { LoadingState } from '../../ui/states.tsx';
import classes from './calculator.module.css';
import { useAccountBalance } from './get-trading-user.ts';
import { useRefreshAccount } from './refresh-account.ts';

type Balance = AccountBalanceAnswer['data'];

export function BalanceCard({ userId }: { userId: string }) {
  const query = useAccountBalance(userId);
  return (
    <Panel title="Account Balance" aside={<Reload query={query} />}>
      <Content query={query} />
    </Panel>
  );
}

function Content({ query }: { query: UseQueryResult<Partial<AccountBalanceAnswer>> }) {
  if (query.isPending) return <LoadingState label="Loading account balance..." />;
  if (query.isError) {
    const reason = unavailability(query.error);
    return reason === null ? (
      <Problem icon={<IconAlertCircle size={24} className={classes.error} aria-hidden />}>
        <strong>Balance API Error</strong>
        <span>Please check API connection</span>
        <span className={classes.quiet}>{query.error.message}</span>
      </Problem>
    ) : (
      <Unavailable>{reason}</Unavailable>
    );
  }
  const { success, data } = query.data;
  return success && data?.futuresBalance ? <Figures balance={data} /> : <Unavailable />;
}

/** Why there is nothing to ask the exchange for; null when the exchange or the way to it failed. */
function unavailability(error: Error): string | null {
  if (!(error instanceof ApiError) || ![404, 503].includes(error.status)) return null;
  const message = error.serverMessage ?? '';
  return message === '' || message.startsWith('Balance API Error') ? null : message;
}

function Figures({ balance }: { balance: Balance }) {
  return (
    <Facts
      columns={2}
      facts={[
        ['Account Type', 'Futures (USDT)'],
        ['Exchange', balance.exchangePlatform],
        ['Balance', formatPrice(balance.futuresBalance)],
        ['Available', formatPrice(balance.futuresAvailable)],
        ['Frozen', formatPrice(balance.futuresLocked)],
        ['In positions', formatPrice(balance.futuresInPositions)],
        ['Spot Balance', formatPrice(balance.spotBalance)],
      ]}
    />
  );
}

function Unavailable({ children }: { children?: ReactNode }) {
  return (
    <Problem icon={<IconWallet size={24} className={classes.quiet} aria-hidden />}>
      <strong>Balance information unavailable</strong>
      {children ? <span>{children}</span> : null}
    </Problem>
  );
}

function Problem({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <div className={classes.problem} role="alert">
      {icon}
      <div className={classes.lines}>{children}</div>
    </div>
  );
}

function Reload({ query }: { query: UseQueryResult }) {
  const refresh = useRefreshAccount();
  return (
    <RefreshButton size="compact-sm" busy={query.isFetching} onRefresh={refresh}>
      Refresh balance
    </RefreshButton>
  );
}
