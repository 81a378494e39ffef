import { CloseButton, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useRef } from 'react';
import classes from './search-field.module.css';
import { usePausingText } from './use-pausing-text.ts';

interface SearchFieldProps {
  /** Accessible name, e.g. 'Search users'. */
  label: string;
  clearLabel?: string;
  value: string;
  maxLength: number;
  /** Why the text cannot be searched for. */
  error?: string | undefined;
  /** Called when typing pauses, or immediately on Enter and on clear. */
  onSearch: (text: string) => void;
}

export function SearchField(props: SearchFieldProps) {
  const { label, clearLabel = 'Clear search', value, maxLength, error, onSearch } = props;
  const { text, setText, ask } = usePausingText({ value, onPause: onSearch });
  const input = useRef<HTMLInputElement>(null);

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
      error={error}
      leftSection={<IconSearch size={14} aria-hidden />}
      rightSection={text === '' ? null : <CloseButton size="xs" aria-label={clearLabel} onClick={clear} />}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') ask(text);
        if (event.key === 'Escape' && text !== '') clear();
      }}
    />
  );
}
