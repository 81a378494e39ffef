import { Button } from '@mantine/core';
import { IconKey, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OverviewAccount } from '#contract/overview.ts';
import type { EquityTrendsAnswer } from '#contract/performance.ts';
import { Sparkline } from '#web/charts/equity-picture.tsx';
import { describeTradingState } from '#web/lists/trading-state.ts';
import { requestJson } from '../../lib/api-client.ts';
import { formatMoney } from '../../lib/figures.ts';
import { formatCount, toNumber } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { settingsPath, usersPath } from '../../lib/user-paths.ts';
import { Badge } from '../../ui/badge.tsx';
import { ButtonLink, Link } from '../../ui/link.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Profit } from '../../ui/profit.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useChange } from '../../ui/use-change.ts';
import classes from './overview.module.css';
import { overviewPath } from './overview-data.ts';

/** The most urgent come first, so the rest may wait behind a button. */
const SHOWN = 12;

export function AccountsPanel({ accounts }: { accounts: readonly OverviewAccount[] }) {
  const [showsAll, setShowsAll] = useState(false);
  // Without it the cards lack their small pictures, and nothing else.
  const { data: trends } = useQuery<EquityTrendsAnswer>({
    queryKey: ['/api/performance/equity/accounts'],
    staleTime: 0,
  });
  const trendOf = ({ userId, exchangePlatform }: OverviewAccount) =>
    trends?.accounts.find((one) => one.userId === userId && one.exchangePlatform === exchangePlatform)
      ?.points;
  const shown = showsAll ? accounts : accounts.slice(0, SHOWN);
  const more = accounts.length - shown.length;
  return (
    <Panel
      title="Accounts"
      aside={
        <ButtonLink to="/create-client" variant="subtle" size="xs">
          All users
        </ButtonLink>
      }
    >
      {accounts.length === 0 ? <EmptyState>No active users</EmptyState> : null}
      <ul className={classes.accounts} aria-label="Accounts">
        {shown.map((account) => (
          <Account
            key={`${account.userId} ${account.exchangePlatform}`}
            account={account}
            trend={trendOf(account)}
          />
        ))}
      </ul>
      {more > 0 ? (
        <Button variant="default" size="xs" mt={12} onClick={() => setShowsAll(true)}>
          Show {formatCount(more)} more
        </Button>
      ) : null}
    </Panel>
  );
}

const KEYS: Readonly<Record<string, string>> = {
  paper: 'on paper',
  valid: 'key valid',
  unchecked: 'key not checked yet',
  refused: 'key refused',
  missing: 'no key',
} satisfies Record<OverviewAccount['key'], string>;

interface AccountProps {
  account: OverviewAccount;
  trend: EquityTrendsAnswer['accounts'][number]['points'] | undefined;
}

function Account({ account, trend = [] }: AccountProps) {
  const { userId, username, exchangePlatform, equity, equityAt, net7d, exposure, openPositions, key } =
    account;
  const formatInstant = useFormatInstant();
  const { word, tone, tip } = describeTradingState(account, formatInstant);
  return (
    <li className={classes.account}>
      <div className={classes.accountHead}>
        <Link to="/settings" search={{ userId }} className={classes.name}>
          {username}
        </Link>
        {tip === undefined ? (
          <Badge tone={tone}>{word}</Badge>
        ) : (
          <Badge tone={tone} tip={tip}>
            {word}
          </Badge>
        )}
      </div>
      <div className={classes.worth}>
        <div>
          <div
            className={classes.equity}
            data-tip={equityAt === null ? undefined : `As of ${formatInstant(equityAt)}`}
          >
            {formatMoney(equity)}
          </div>
          <div className={classes.small}>
            <Profit amount={net7d} /> net 7 d
          </div>
        </div>
        {trend.length < 2 ? null : <Sparkline label={`Equity of ${username} over 7 days`} points={trend} />}
      </div>
      <div className={classes.small}>
        Exposure {times(exposure, equity)}
        {account.exposureLimit === null ? null : ` of ${times(account.exposureLimit, equity)}`}
        <span className={classes.quiet}>
          {' '}
          · {formatCount(openPositions)} {openPositions === 1 ? 'position' : 'positions'}
        </span>
      </div>
      <ExposureGauge account={account} />
      {account.unread === null ? null : <p className={classes.unread}>{account.unread}</p>}
      <div className={classes.accountFoot}>
        <span className={classes.key}>
          <IconKey size={14} aria-hidden /> {exchangePlatform} {KEYS[key] ?? '–'}
        </span>
        <AccountAction account={account} />
      </div>
    </li>
  );
}

/** How far the limit is used; nothing without a limit. */
function ExposureGauge({ account: { username, exposure, exposureLimit } }: { account: OverviewAccount }) {
  const [used, limit] = [toNumber(exposure), toNumber(exposureLimit)];
  if (used === null || limit === null || limit <= 0) return null;
  const fraction = used / limit;
  return (
    <meter
      className={classes.gauge}
      aria-label={`Exposure of ${username}`}
      data-level={fraction >= 1 ? 'full' : fraction >= 0.7 ? 'near' : undefined}
      style={{ backgroundSize: `${Math.min(fraction, 1) * 100}% 100%` }}
      min={0}
      max={limit}
      value={Math.min(used, limit)}
    />
  );
}

/** '0.6×' of the equity, in words where one of the two is not known. */
function times(exposure: string | null, equity: string | null): string {
  const [value, whole] = [toNumber(exposure), toNumber(equity)];
  if (value === null) return 'not known';
  if (whole === null || whole <= 0) return formatMoney(exposure);
  return `${(value / whole).toFixed(1)}×`;
}

const PAUSE_HOURS = 24;

function AccountAction({ account: { userId, username, state } }: { account: OverviewAccount }) {
  const path = settingsPath(userId);
  const pause = useChange({
    send: (hours: number | null) =>
      requestJson(path, {
        method: 'PUT',
        body: {
          tradingPausedUntil: hours === null ? null : new Date(Date.now() + hours * 3_600_000).toISOString(),
        },
      }),
    done: (_answer, hours) =>
      hours === null
        ? { title: 'Trading resumed', message: `Signals are traded for ${username} again` }
        : { title: 'Trading paused', message: `Nothing new is opened for ${username} for ${hours} h` },
    failed: { title: 'The pause was not changed' },
    refresh: [overviewPath, path, usersPath, '/api/trading-states'],
  });
  switch (state) {
    case 'trading':
      return (
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconPlayerPause size={13} aria-hidden />}
          aria-label={`Pause 24 h: ${username}`}
          data-tip={`For ${PAUSE_HOURS} h`}
          disabled={pause.isPending}
          onClick={() => pause.mutate(PAUSE_HOURS)}
        >
          Pause
        </Button>
      );
    case 'paused':
      return (
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconPlayerPlay size={13} aria-hidden />}
          aria-label={`Resume ${username}`}
          disabled={pause.isPending}
          onClick={() => pause.mutate(null)}
        >
          Resume
        </Button>
      );
    case 'halted':
      return (
        <ButtonLink to="/positions" size="compact-xs" variant="default" aria-label={`Check ${username}`}>
          Check
        </ButtonLink>
      );
    default:
      return (
        <ButtonLink
          to="/settings"
          search={{ userId }}
          size="compact-xs"
          variant="default"
          aria-label={`Settings of ${username}`}
        >
          Settings
        </ButtonLink>
      );
  }
}
