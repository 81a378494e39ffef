import { useEffect, useState } from 'react';
import { SearchField } from './search-field.tsx';

/** The shortest beginning of an ID that the server searches for. */
const LEAST = 8;
const MOST = 36;
const ID = /^[0-9a-f][0-9a-f-]*$/i;

/** Whether the server can search for it. */
export const isSearchableId = (text: string): boolean =>
  text.length >= LEAST && text.length <= MOST && ID.test(text);

interface IdSearchProps {
  value: string | undefined;
  onSearch: (id: string | undefined) => void;
}

/** Finds a row by its ID or the first eight or more characters of it. */
export function IdSearch({ value = '', onSearch }: IdSearchProps) {
  const [refused, setRefused] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another value was accepted, so nothing is refused
  useEffect(() => setRefused(false), [value]);
  return (
    <SearchField
      label="Search by ID"
      value={value}
      maxLength={MOST}
      error={refused ? 'Enter an ID or at least its first 8 characters' : undefined}
      onSearch={(text) => {
        const id = text.trim();
        const isRefused = id !== '' && !isSearchableId(id);
        setRefused(isRefused);
        if (!isRefused) onSearch(id === '' ? undefined : id);
      }}
    />
  );
}
