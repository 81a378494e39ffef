import { Switch } from '@mantine/core';
import { IconCheck, IconCopy, IconSettings } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { User } from '#contract/users.ts';
import { shortId } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { ActionIconLink } from '../../ui/link.tsx';
import { useCopy } from '../../ui/use-copy.ts';
import type { UserChange } from './change-user-dialog.tsx';
import classes from './users.module.css';

const DATE_LENGTH = 'yyyy/MM/dd'.length;

const joined = (...parts: (string | null)[]): string | null => parts.filter(Boolean).join(' ') || null;

interface UserRowProps {
  user: User;
  fetchedAtMs: number;
  /** Why the user opens no positions; undefined while nothing halts the user. */
  haltedBecause: string | undefined;
  onChange: (change: UserChange) => void;
}

export function UserRow({ user, fetchedAtMs, haltedBecause, onChange }: UserRowProps) {
  const { user: currentUser } = useSession();
  const formatInstant = useFormatInstant();
  const { id, username, isAdmin, isTestUser, settings } = user;
  const name = joined(user.firstName, user.lastName);
  const pausedUntil = settings?.tradingPausedUntil ?? null;
  const createdAt = formatInstant(user.createdAt);
  return (
    <tr>
      <Cell label="ID">
        <UserId id={id} />
      </Cell>
      <td className={classes.username}>
        <strong>
          <CutText maxWidth={220}>{username}</CutText>
        </strong>
      </td>
      <Cell label="Name">{name === null ? null : <CutText maxWidth={150}>{name}</CutText>}</Cell>
      <Cell label="Mobile">{user.mobileNumber ? joined(user.countryCode, user.mobileNumber) : null}</Cell>
      <Cell label="Role">
        <span className={classes.badges}>
          <Badge tone={isAdmin ? 'accent' : 'neutral'}>{isAdmin ? 'Admin' : 'User'}</Badge>
          {isTestUser ? (
            <Badge tone="outline" tip="Traded for in paper and demo mode, never with real money">
              Test
            </Badge>
          ) : null}
        </span>
      </Cell>
      <Cell label="Sizing">
        {settings === null ? null : `${settings.positionSizingMethod} · ${settings.exchangePlatform}`}
      </Cell>
      <Cell label="Active Trading">
        <span className={classes.badges}>
          <Switch
            size="sm"
            checked={user.activeTradingEnabled}
            disabled={settings === null}
            aria-label={`Active trading of ${username}`}
            onChange={() =>
              onChange({ kind: 'activeTrading', userId: id, username, on: !user.activeTradingEnabled })
            }
          />
          {haltedBecause === undefined ? null : (
            <Badge tone="failure" tip={haltedBecause}>
              Halted
            </Badge>
          )}
          {pausedUntil !== null && Date.parse(pausedUntil) > fetchedAtMs ? (
            <Badge tone="warning" tip={`Paused until ${formatInstant(pausedUntil)}`}>
              Paused
            </Badge>
          ) : null}
        </span>
      </Cell>
      <Cell label="Status">
        <StatusSwitch user={user} isSelf={id === currentUser.id} onChange={onChange} />
      </Cell>
      <Cell label="Created">
        <span data-tip={createdAt}>{createdAt.slice(0, DATE_LENGTH)}</span>
      </Cell>
      <td className={classes.settings}>
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
      </td>
    </tr>
  );
}

/** An empty value is a dash in the table, and has no line on a card. */
function Cell({ label, children }: { label: string; children: ReactNode }) {
  const isEmpty = children === null;
  return (
    <td data-label={label} data-empty={isEmpty || undefined}>
      {isEmpty ? '–' : children}
    </td>
  );
}

interface StatusSwitchProps {
  user: User;
  isSelf: boolean;
  onChange: (change: UserChange) => void;
}

const OWN_ACCOUNT = 'You cannot deactivate your own account';

/** Administrators cannot deactivate themselves. */
function StatusSwitch({ user: { id, username, isActive }, isSelf, onChange }: StatusSwitchProps) {
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
