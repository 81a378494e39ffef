import { CloseButton, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import classes from './users.module.css';

/** Long enough to avoid a request per letter, short enough to feel immediate. */
const PAUSE_MS = 300;

interface SearchFieldProps {
  /** Accessible name, e.g. 'Search users'. */
  label: string;
  value: string;
  maxLength: number;
  /** Called when typing pauses, or immediately on Enter and on clear. */
  onSearch: (text: string) => void;
}

export function SearchField({ label, value, maxLength, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  /** The last searched value; a different `value` was set elsewhere, such as by the browser's Back. */
  const asked = useRef(value);

  useEffect(() => {
    if (value === asked.current) return;
    asked.current = value;
    setText(value);
  }, [value]);

  const ask = (next: string) => {
    const trimmed = next.trim();
    if (trimmed === asked.current) return;
    asked.current = trimmed;
    onSearch(trimmed);
  };
  const askAfterPause = useEffectEvent(ask);
  useEffect(() => {
    const timer = setTimeout(() => askAfterPause(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);

  const clear = () => {
    setText('');
    ask('');
    input.current?.focus();
  };

  return (
    <TextInput
      ref={input}
      className={classes.search}
      size="xs"
      data-filter
      aria-label={label}
      placeholder={label}
      autoComplete="off"
      maxLength={maxLength}
      leftSection={<IconSearch size={14} aria-hidden />}
      rightSection={text === '' ? null : <CloseButton size="xs" aria-label="Clear search" onClick={clear} />}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') ask(text);
        if (event.key === 'Escape' && text !== '') clear();
      }}
    />
  );
}
