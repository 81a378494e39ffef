import { Switch } from '@mantine/core';
import { IconSettings } from '@tabler/icons-react';
import type { User } from '#contract/users.ts';
import { shortId } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import type { TableColumns } from '../../ui/data-table.tsx';
import { ActionIconLink } from '../../ui/link.tsx';
import type { UserChange } from './change-user.ts';
import { fullName, mobile } from './user-text.ts';

interface ColumnOptions {
  currentUserId: string;
  formatInstant: (instant: string | null) => string;
  onChange: (change: UserChange) => void;
}

export function usersColumns({ currentUserId, formatInstant, onChange }: ColumnOptions): TableColumns<User> {
  return [
    {
      id: 'id',
      header: 'ID',
      cell: ({ row: { original: user } }) => (
        <span className="mono" data-tip={user.id}>
          {shortId(user.id, 8)}
        </span>
      ),
    },
    { id: 'username', header: 'Username', cell: ({ row }) => <strong>{row.original.username}</strong> },
    { id: 'name', header: 'Name', cell: ({ row }) => fullName(row.original) },
    { id: 'mobile', header: 'Mobile', cell: ({ row }) => mobile(row.original) },
    {
      id: 'role',
      header: 'Role',
      cell: ({ row }) => (
        <Badge tone={row.original.isAdmin ? 'accent' : 'neutral'}>
          {row.original.isAdmin ? 'Admin' : 'User'}
        </Badge>
      ),
    },
    {
      id: 'method',
      header: 'Sizing Method',
      cell: ({ row }) => row.original.settings?.positionSizingMethod ?? '–',
    },
    {
      id: 'activeTrading',
      header: 'Active Trading',
      cell: ({ row: { original: user } }) => (
        <Switch
          size="sm"
          checked={user.activeTradingEnabled}
          disabled={user.settings === null}
          aria-label={`Active trading of ${user.username}`}
          onChange={() =>
            onChange({
              kind: 'activeTrading',
              userId: user.id,
              username: user.username,
              on: !user.activeTradingEnabled,
            })
          }
        />
      ),
    },
    {
      id: 'status',
      header: 'Status',
      cell: ({ row: { original: user } }) => (
        <StatusSwitch user={user} isSelf={user.id === currentUserId} onChange={onChange} />
      ),
    },
    { id: 'created', header: 'Created', cell: ({ row }) => formatInstant(row.original.createdAt) },
    {
      id: 'actions',
      header: 'Settings',
      cell: ({ row: { original: user } }) => (
        <ActionIconLink
          to="/settings"
          search={{ userId: user.id }}
          variant="default"
          size="sm"
          aria-label={`Settings of ${user.username}`}
        >
          <IconSettings size={14} aria-hidden />
        </ActionIconLink>
      ),
    },
  ];
}

interface StatusSwitchProps {
  user: User;
  isSelf: boolean;
  onChange: (change: UserChange) => void;
}

/** Administrators cannot deactivate themselves (part 1 §4). */
function StatusSwitch({ user, isSelf, onChange }: StatusSwitchProps) {
  return (
    <span data-tip={isSelf ? 'You cannot deactivate your own account' : undefined}>
      <Switch
        size="sm"
        checked={user.isActive}
        disabled={isSelf}
        label={user.isActive ? 'Active' : 'Inactive'}
        aria-label={`Status of ${user.username}: ${user.isActive ? 'Active' : 'Inactive'}`}
        onChange={() =>
          onChange({ kind: 'status', userId: user.id, username: user.username, on: !user.isActive })
        }
      />
    </span>
  );
}
