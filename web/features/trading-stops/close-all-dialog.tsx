import { Alert, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { closeAllPath, stopsPath } from '../../lib/trading-stops.ts';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { useChange } from '../../ui/use-change.ts';
import { type ScopeChoice, ScopeFields } from './scope-fields.tsx';
import { scopeText } from './stop-text.ts';
import { useUserNames } from './use-user-names.ts';

const CLOSE = 'CLOSE';

/** Closes every position of ours in a scope, after the word was typed. */
export function CloseAllDialog({ scope: asked, onClose }: { scope: ScopeChoice; onClose: () => void }) {
  const nameOf = useUserNames();
  const [scope, setScope] = useState(asked);
  const [typed, setTyped] = useState('');
  const [staysStopped, setStaysStopped] = useState(true);
  const name = scopeText(scope, nameOf);
  const isChosen = scope.kind === 'all' || scope.value !== null;
  const closeAll = useChange<{ id: string }>({
    send: () =>
      requestJson<{ id: string }>(closeAllPath, {
        method: 'POST',
        body: {
          scope: scope.value === null ? { kind: scope.kind } : scope,
          confirm: typed,
          stop: staysStopped,
        },
      }),
    done: () => ({
      title: 'Closing all positions',
      message: 'The progress is shown at the top of every page.',
    }),
    refresh: [closeAllPath, stopsPath],
  });
  const close = closeAll.isPending ? () => {} : onClose;
  return (
    <Dialog opened onClose={close} title="Close All Positions">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isChosen && typed === CLOSE) closeAll.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack gap="md">
          <Text size="sm">
            Stops new entries{isChosen ? ` for ${name}` : ''}, cancels resting orders, then closes every
            position that was opened here, at market. What was opened elsewhere is not touched. This cannot be
            undone.
          </Text>
          <ScopeFields scope={scope} withKind disabled={closeAll.isPending} onChange={setScope} />
          <Checkbox
            label="Keep new entries stopped afterwards"
            checked={staysStopped}
            disabled={closeAll.isPending}
            onChange={({ currentTarget }) => setStaysStopped(currentTarget.checked)}
          />
          <TextInput
            label={`Type ${CLOSE} to confirm`}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            value={typed}
            disabled={closeAll.isPending}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          {closeAll.error ? (
            <Alert color="red" title="Nothing is being closed" role="alert">
              {serverMessage(closeAll.error, closeAll.error.message)}
            </Alert>
          ) : null}
          <DialogButtons
            label="Close all positions"
            pendingLabel="Stopping new entries..."
            pending={closeAll.isPending}
            disabled={!isChosen || typed !== CLOSE}
            destructive
            onCancel={close}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
