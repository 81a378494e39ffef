import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { StrategiesAnswer } from '#contract/strategies.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useChange } from '../../ui/use-change.ts';
import classes from './strategies.module.css';

/** How old a signal of the strategy may be. Empty: the limit of the program. */
export function SignalAge({ processor, seconds }: { processor: string; seconds: number | null }) {
  const saved = seconds === null ? '' : String(seconds);
  const [text, setText] = useState<string | null>(null);
  const shown = text ?? saved;
  const isValid = shown === '' || /^\d{1,4}$/.test(shown);
  const save = useChange<StrategiesAnswer>({
    send: () =>
      requestJson(`/api/strategies/${encodeURIComponent(processor)}`, {
        method: 'PUT',
        body: { maxSignalAgeSeconds: shown === '' ? null : Number(shown) },
      }),
    done: () => ({
      title: 'Strategy Saved',
      message:
        shown === ''
          ? `${processor}: the limit of the program applies.`
          : `${processor}: signals up to ${shown} s old are traded.`,
    }),
    failed: { title: 'Failed to Save Strategy', otherwise: 'The age of signals was not saved' },
    refresh: ['/api/strategies'],
  });
  return (
    <form
      className={classes.age}
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) save.mutate(undefined, { onSuccess: () => setText(null) });
      }}
    >
      <TextInput
        size="xs"
        label="Oldest signal in seconds"
        placeholder="Limit of the program"
        inputMode="numeric"
        value={shown}
        error={isValid ? null : 'A whole number of seconds'}
        onChange={(event) => setText(event.currentTarget.value.trim())}
      />
      {shown === saved ? null : (
        <Button type="submit" size="xs" disabled={!isValid || save.isPending}>
          {save.isPending ? 'Saving...' : 'Save'}
        </Button>
      )}
    </form>
  );
}
