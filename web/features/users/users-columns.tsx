import { ActionIcon, Switch } from '@mantine/core';
import {
  IconArrowDown,
  IconArrowUp,
  IconCheck,
  IconCopy,
  IconHandStop,
  IconHistory,
  IconSettings,
} from '@tabler/icons-react';
import type { ListedTradingState } from '#contract/overview.ts';
import type { User, UserSort } from '#contract/users.ts';
import type { CardColumn } from '#web/lists/card-table.tsx';
import { describeTradingState } from '#web/lists/trading-state.ts';
import { formatMoney } from '../../lib/figures.ts';
import { shortId } from '../../lib/format.ts';
import { stopDialog } from '../../lib/trading-stops.ts';
import { Badge } from '../../ui/badge.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { ActionIconLink } from '../../ui/link.tsx';
import { Profit } from '../../ui/profit.tsx';
import { useCopy } from '../../ui/use-copy.ts';
import type { UserChange } from './change-user-dialog.tsx';
import classes from './users.module.css';
import { orderAfterClick, type UsersOrder } from './users-order.ts';

const DATE_LENGTH = 'yyyy/MM/dd'.length;
const OWN_ACCOUNT = 'You cannot deactivate your own account';

interface ColumnOptions {
  ownId: string;
  formatInstant: (instant: string) => string;
  order: UsersOrder;
  onOrder: (order: UsersOrder) => void;
  /** By user id: whether new positions are opened for the user. */
  states: ReadonlyMap<string, ListedTradingState>;
  onDecisions: (userId: string) => void;
  /** By user id: the stops of the user's new entries, in words. */
  stopped: ReadonlyMap<string, string>;
  onChange: (change: UserChange) => void;
}

const joined = (...parts: (string | null)[]): string | null => parts.filter(Boolean).join(' ') || null;

export function usersColumns(options: ColumnOptions): CardColumn<User>[] {
  const { ownId, formatInstant, order, onOrder, states, stopped, onDecisions, onChange } = options;
  const sortable = (header: string, sort: UserSort): Pick<CardColumn<User>, 'header' | 'head' | 'sorted'> => {
    const direction = order.sort === sort ? order.direction : null;
    const Arrow = direction === 'desc' ? IconArrowDown : IconArrowUp;
    return {
      header,
      sorted: direction === null ? 'none' : direction === 'asc' ? 'ascending' : 'descending',
      head: (
        <button
          type="button"
          className={classes.sort}
          data-sorted={direction !== null || undefined}
          onClick={() => onOrder(orderAfterClick(order, sort))}
        >
          {header}
          <Arrow size={13} aria-hidden />
        </button>
      ),
    };
  };
  return [
    { header: 'ID', isSpare: true, cell: ({ id }) => <UserId id={id} /> },
    {
      ...sortable('Username', 'username'),
      place: 'title',
      cell: ({ username }) => (
        <strong>
          <CutText maxWidth={220}>{username}</CutText>
        </strong>
      ),
    },
    {
      ...sortable('Name', 'name'),
      cell: ({ firstName, lastName }) => {
        const name = joined(firstName, lastName);
        return name === null ? null : <CutText maxWidth={120}>{name}</CutText>;
      },
    },
    {
      header: 'Mobile',
      isSpare: true,
      cell: ({ countryCode, mobileNumber }) => (mobileNumber ? joined(countryCode, mobileNumber) : null),
    },
    {
      header: 'Role',
      cell: ({ isAdmin, isTestUser }) => (
        <span className={classes.badges} data-wraps>
          <Badge tone={isAdmin ? 'accent' : 'neutral'}>{isAdmin ? 'Admin' : 'User'}</Badge>
          {isTestUser ? (
            <Badge tone="outline" tip="Traded for in paper and demo mode, never with real money">
              Test
            </Badge>
          ) : null}
        </span>
      ),
    },
    {
      header: 'Sizing',
      cell: ({ settings }) =>
        settings && (
          <span className={classes.sizing}>
            <span>{settings.positionSizingMethod}</span>{' '}
            <span>
              <span className={classes.dot}>· </span>
              {settings.exchangePlatform}
            </span>
          </span>
        ),
    },
    {
      header: 'Equity',
      cell: ({ id }) => <Worth state={states.get(id)} formatInstant={formatInstant} />,
    },
    {
      ...sortable('Active Trading', 'activeTrading'),
      cell: ({ id, username, activeTradingEnabled: on, settings }) => (
        <span className={classes.badges}>
          <Switch
            size="sm"
            checked={on}
            disabled={settings === null}
            aria-label={`Active trading of ${username}`}
            onChange={() => onChange({ kind: 'activeTrading', userId: id, username, on: !on })}
          />
          <span className={classes.badges} data-wraps>
            <StateBadge state={states.get(id)} formatInstant={formatInstant} />
            {stopped.has(id) ? (
              <Badge tone="failure" tip={stopped.get(id) ?? ''}>
                Stopped
              </Badge>
            ) : null}
          </span>
        </span>
      ),
    },
    {
      ...sortable('Status', 'isActive'),
      cell: ({ id, username, isActive }) => {
        const isSelf = id === ownId;
        const status = isActive ? 'Active' : 'Inactive';
        return (
          <span data-tip={isSelf ? OWN_ACCOUNT : undefined}>
            <Switch
              size="sm"
              classNames={{ label: classes.switchLabel ?? '' }}
              checked={isActive}
              disabled={isSelf}
              label={status}
              // The label repeats the tooltip, which the keyboard cannot reach: a disabled switch takes no focus.
              aria-label={`Status of ${username}: ${status}${isSelf ? `. ${OWN_ACCOUNT}` : ''}`}
              onChange={() => onChange({ kind: 'status', userId: id, username, on: !isActive })}
            />
          </span>
        );
      },
    },
    {
      ...sortable('Created', 'createdAt'),
      isSpare: true,
      cell: ({ createdAt }) => {
        const instant = formatInstant(createdAt);
        return <span data-tip={instant}>{instant.slice(0, DATE_LENGTH)}</span>;
      },
    },
    {
      header: 'Settings',
      place: 'action',
      cell: ({ id, username }) => (
        <span className={classes.badges}>
          <ActionIcon
            variant="default"
            size="md"
            aria-label={`Decisions on ${username}`}
            data-tip={`Decisions on ${username}: every signal, traded or not, and why`}
            onClick={() => onDecisions(id)}
          >
            <IconHistory size={16} aria-hidden />
          </ActionIcon>
          <StopSwitch userId={id} username={username} isStopped={stopped.has(id)} />
          <ActionIconLink
            to="/settings"
            search={{ userId: id }}
            variant="default"
            size="md"
            aria-label={`Settings of ${username}`}
            data-tip={`Settings of ${username}`}
          >
            <IconSettings size={16} aria-hidden />
          </ActionIconLink>
        </span>
      ),
    },
  ];
}

/** What the user's account is worth, and what was made lately. */
function Worth({
  state,
  formatInstant,
}: {
  state: ListedTradingState | undefined;
  formatInstant: (instant: string) => string;
}) {
  if (state === undefined) return '–';
  const { equity, equityAt, net7d } = state;
  return (
    <span className={classes.worth}>
      <span data-tip={equityAt === null ? undefined : `As of ${formatInstant(equityAt)}`}>
        {formatMoney(equity)}
      </span>
      <span className={classes.net}>
        <Profit amount={net7d} /> 7 d
      </span>
    </span>
  );
}

/** Nothing while the states are not known. */
function StateBadge({
  state,
  formatInstant,
}: {
  state: ListedTradingState | undefined;
  formatInstant: (instant: string) => string;
}) {
  if (state === undefined) return null;
  const { word, tone, tip } = describeTradingState(state, formatInstant);
  return (
    <Badge tone={tone} {...(tip === undefined ? {} : { tip })}>
      {word}
    </Badge>
  );
}

/** Opens the dialog that stops the user's new entries or lifts their stop. */
function StopSwitch(props: { userId: string; username: string; isStopped: boolean }) {
  const { userId, username, isStopped } = props;
  return (
    <ActionIcon
      variant={isStopped ? 'filled' : 'default'}
      {...(isStopped ? { color: 'red' } : {})}
      size="md"
      role="switch"
      aria-checked={isStopped}
      aria-label={`Stop of new entries of ${username}`}
      data-tip={isStopped ? `Lift the stop of ${username}` : `Stop new entries of ${username}`}
      onClick={() => stopDialog.set({ action: 'stop', kind: 'user', value: userId })}
    >
      <IconHandStop size={16} aria-hidden />
    </ActionIcon>
  );
}

/** The users table shortens ids of 8 or more characters. */
const SHORT_FROM = 8;

/** A click copies the whole id. */
function UserId({ id }: { id: string }) {
  const { copied, copy } = useCopy({ title: 'Copied!', message: 'User ID copied to clipboard.' });
  const Icon = copied ? IconCheck : IconCopy;
  return (
    <button
      type="button"
      className={classes.id}
      data-tip={copied ? 'Copied' : `${id}, click to copy`}
      aria-label={`${shortId(id, SHORT_FROM)}, copy user ID`}
      onClick={() => void copy(id)}
    >
      <span className="mono">{shortId(id, SHORT_FROM)}</span>
      <Icon size={13} className={classes.copyIcon} aria-hidden />
    </button>
  );
}
