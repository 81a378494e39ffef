import { Switch } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconCheck, IconCopy, IconSettings } from '@tabler/icons-react';
import type { User, UserSort } from '#contract/users.ts';
import type { CardColumn } from '#web/lists/card-table.tsx';
import { shortId } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { ActionIconLink } from '../../ui/link.tsx';
import { useCopy } from '../../ui/use-copy.ts';
import type { UserChange } from './change-user-dialog.tsx';
import classes from './users.module.css';
import { orderAfterClick, type UsersOrder } from './users-search.ts';

const DATE_LENGTH = 'yyyy/MM/dd'.length;
const OWN_ACCOUNT = 'You cannot deactivate your own account';

interface ColumnOptions {
  ownId: string;
  formatInstant: (instant: string) => string;
  /** When the rows were fetched, in milliseconds. */
  fetchedAtMs: number;
  order: UsersOrder;
  onOrder: (order: UsersOrder) => void;
  /** By user id: why the user opens no positions. */
  halted: ReadonlyMap<string, string>;
  onChange: (change: UserChange) => void;
}

const joined = (...parts: (string | null)[]): string | null => parts.filter(Boolean).join(' ') || null;

export function usersColumns(options: ColumnOptions): CardColumn<User>[] {
  const { ownId, formatInstant, fetchedAtMs, order, onOrder, halted, onChange } = options;
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
    { header: 'ID', cell: ({ id }) => <UserId id={id} /> },
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
        return name === null ? null : <CutText maxWidth={150}>{name}</CutText>;
      },
    },
    {
      header: 'Mobile',
      cell: ({ countryCode, mobileNumber }) => (mobileNumber ? joined(countryCode, mobileNumber) : null),
    },
    {
      header: 'Role',
      cell: ({ isAdmin, isTestUser }) => (
        <span className={classes.badges}>
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
      cell: ({ settings }) => settings && `${settings.positionSizingMethod} · ${settings.exchangePlatform}`,
    },
    {
      ...sortable('Active Trading', 'activeTrading'),
      cell: ({ id, username, activeTradingEnabled: on, settings }) => {
        const pausedUntil = settings?.tradingPausedUntil ?? null;
        return (
          <span className={classes.badges}>
            <Switch
              size="sm"
              checked={on}
              disabled={settings === null}
              aria-label={`Active trading of ${username}`}
              onChange={() => onChange({ kind: 'activeTrading', userId: id, username, on: !on })}
            />
            {halted.has(id) ? (
              <Badge tone="failure" tip={halted.get(id) ?? ''}>
                Halted
              </Badge>
            ) : null}
            {pausedUntil !== null && Date.parse(pausedUntil) > fetchedAtMs ? (
              <Badge tone="warning" tip={`Paused until ${formatInstant(pausedUntil)}`}>
                Paused
              </Badge>
            ) : null}
          </span>
        );
      },
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
      cell: ({ createdAt }) => {
        const instant = formatInstant(createdAt);
        return <span data-tip={instant}>{instant.slice(0, DATE_LENGTH)}</span>;
      },
    },
    {
      header: 'Settings',
      place: 'action',
      cell: ({ id, username }) => (
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
      ),
    },
  ];
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
