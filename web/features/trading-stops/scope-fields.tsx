import { useQuery } from '@tanstack/react-query';
import type { StopKind } from '#domain/orders/trading-stop.ts';
import { Select } from '#web/forms/select.tsx';
import { useUsers } from './use-user-names.ts';

const KINDS = [
  { value: 'all', label: 'Everybody' },
  { value: 'strategy', label: 'A strategy' },
  { value: 'token', label: 'A token' },
  { value: 'user', label: 'A user' },
] as const;
const LABELS: Record<StopKind, string> = { all: '', strategy: 'Strategy', token: 'Token', user: 'User' };

export interface ScopeChoice {
  kind: StopKind;
  value: string | null;
}

interface ScopeFieldsProps {
  scope: ScopeChoice;
  /** The kind can be chosen too. */
  withKind?: boolean;
  disabled: boolean;
  onChange: (scope: ScopeChoice) => void;
}

/** Chooses what a stop or a closing covers. */
export function ScopeFields({ scope, withKind = false, disabled, onChange }: ScopeFieldsProps) {
  const { kind, value } = scope;
  const choices = useChoices(kind);
  const data = [{ value: '', label: 'Choose…' }, ...choices.data];
  const known = value === null || data.some((one) => one.value === value);
  return (
    <>
      {withKind ? (
        <Select
          label="For"
          data={KINDS}
          value={kind}
          disabled={disabled}
          onChange={({ currentTarget }) => {
            const chosen = KINDS.find((one) => one.value === currentTarget.value);
            if (chosen) onChange({ kind: chosen.value, value: null });
          }}
        />
      ) : null}
      {kind === 'all' ? null : (
        <Select
          label={LABELS[kind]}
          data={known || value === null ? data : [...data, { value, label: value }]}
          value={value ?? ''}
          disabled={disabled}
          error={choices.isError ? 'The choices could not be loaded' : undefined}
          onChange={({ currentTarget }) => onChange({ kind, value: currentTarget.value || null })}
        />
      )}
    </>
  );
}

function useChoices(kind: StopKind): { data: { value: string; label: string }[]; isError: boolean } {
  const { users, isError } = useUsers();
  const listed = kind === 'strategy' || kind === 'token';
  const path = kind === 'token' ? '/api/signals/tokens' : '/api/signals/processors';
  const names = useQuery<string[]>({ queryKey: [path], enabled: listed });
  if (kind === 'user') {
    return { data: users.map(({ id, username }) => ({ value: id, label: username })), isError };
  }
  if (!listed) return { data: [], isError: false };
  return { data: (names.data ?? []).map((name) => ({ value: name, label: name })), isError: names.isError };
}
