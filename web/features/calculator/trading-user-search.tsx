import { TextInput } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { TradingUser } from './calculator-data.ts';
import classes from './trading-user.module.css';

interface TradingUserSearchProps {
  users: readonly TradingUser[];
  chosenId: string | undefined;
  renderUser: (user: TradingUser) => ReactNode;
  onChoose: (userId: string) => void;
  onClose: () => void;
  /** Called when the focus has moved elsewhere; it must not be moved back. */
  onLeave: () => void;
}

/** Most users listed; typing narrows them down. */
const SHOWN = 50;

/** A combobox with its list below: arrows move, Enter chooses, Escape closes. */
export default function TradingUserSearch(props: TradingUserSearchProps) {
  const { users, chosenId, renderUser, onChoose, onClose, onLeave } = props;
  const [text, setText] = useState('');
  const [moved, setMoved] = useState(0);
  const listId = useId();
  const root = useRef<HTMLDivElement>(null);
  const wanted = text.trim().toLowerCase();
  const found = users.filter(({ username }) => username.toLowerCase().includes(wanted));
  const shown = found.slice(0, SHOWN);
  const active = Math.min(moved, shown.length - 1);
  const optionId = (index: number) => `${listId}-${index}`;

  useEffect(() => {
    root.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' });
  });

  useEffect(() => {
    // The parent includes the button that opens and closes the list.
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
      {/* tabIndex={-1}: Chromium makes a scrolling list a tab stop, where no key would do anything. */}
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
            {renderUser(user)}
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
