import { TextInput } from '@mantine/core';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { TradingUser } from './get-trading-user.ts';
import classes from './trading-user.module.css';
import { UserEntry } from './trading-user-entry.tsx';

interface TradingUserSearchProps {
  users: readonly TradingUser[];
  chosenId: string | undefined;
  ownId: string;
  onChoose: (userId: string) => void;
  onClose: () => void;
  /** The focus has gone elsewhere, and stays there. */
  onLeave: () => void;
}

/** So many are shown at a time; typing narrows the others down. */
const SHOWN = 50;

/** A combobox whose list stands below it: arrows move, Enter chooses, Escape closes. */
export default function TradingUserSearch({
  users,
  chosenId,
  ownId,
  onChoose,
  onClose,
  onLeave,
}: TradingUserSearchProps) {
  const [text, setText] = useState('');
  const [moved, setMoved] = useState(0);
  const listId = useId();
  const root = useRef<HTMLDivElement>(null);
  const wanted = text.trim().toLowerCase();
  const found = ownFirst(users, ownId).filter(({ username }) => username.toLowerCase().includes(wanted));
  const shown = found.slice(0, SHOWN);
  const active = Math.min(moved, shown.length - 1);
  const optionId = (index: number) => `${listId}-${index}`;

  useEffect(() => {
    root.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' });
  });

  useEffect(() => {
    // Its button, which opens and closes it, belongs to it.
    const isOutside = ({ target }: Event) => !root.current?.parentElement?.contains(target as Node);
    const closeFromOutside = (event: Event) => isOutside(event) && onClose();
    const closeBehind = (event: Event) => isOutside(event) && onLeave();
    document.addEventListener('pointerdown', closeFromOutside);
    document.addEventListener('focusin', closeBehind);
    return () => {
      document.removeEventListener('pointerdown', closeFromOutside);
      document.removeEventListener('focusin', closeBehind);
    };
  });

  const act = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1 };
    const target = steps[event.key];
    const user = shown[active];
    if (target !== undefined) setMoved((target + shown.length) % Math.max(shown.length, 1));
    else if (event.key === 'Enter' && user) onChoose(user.id);
    else if (event.key === 'Escape') onClose();
    else return;
    event.preventDefault();
  };

  return (
    <div ref={root} className={classes.search}>
      <TextInput
        type="search"
        size="sm"
        aria-label="Search users"
        placeholder="Search users"
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={shown.length > 0 ? optionId(active) : undefined}
        autoComplete="off"
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setMoved(0);
        }}
        onKeyDown={act}
      />
      {/* Chromium would stop at a list that scrolls, where no key does anything. */}
      <div id={listId} role="listbox" aria-label="Users" tabIndex={-1} className={classes.list}>
        {shown.map((user, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard stays in the search field
          <div
            key={user.id}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={user.id === chosenId}
            data-active={index === active || undefined}
            className={classes.option}
            onClick={() => onChoose(user.id)}
          >
            <UserEntry user={user} ownId={ownId} />
          </div>
        ))}
      </div>
      <p className={classes.count} role="status">
        {found.length === 0 ? 'No user matches' : null}
        {found.length > SHOWN ? `${SHOWN} of ${found.length} users; type more of the name` : null}
      </p>
    </div>
  );
}

const ownFirst = (users: readonly TradingUser[], ownId: string): TradingUser[] =>
  users.toSorted((a, b) => Number(b.id === ownId) - Number(a.id === ownId));
