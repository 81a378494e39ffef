import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { TradingStopView } from '#contract/trading-stops.ts';
import { Select } from '#web/forms/select.tsx';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { useSession } from '../../lib/session.ts';
import { stopsPath, useTradingStops } from '../../lib/trading-stops.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { useChange } from '../../ui/use-change.ts';
import { type ScopeChoice, ScopeFields } from './scope-fields.tsx';
import classes from './stop-dialog.module.css';
import { isPause, scopeText } from './stop-text.ts';
import { useUserNames } from './use-user-names.ts';

const HOUR_MS = 3_600_000;
const LASTS = [
  { value: '', label: 'Until it is lifted' },
  { value: '1', label: 'For 1 hour' },
  { value: '4', label: 'For 4 hours' },
  { value: '24', label: 'For 24 hours' },
];
const RESUME = 'RESUME';

/** Stops new entries in a scope, and lists the stops of that kind, which can be lifted here. */
export function StopDialog({ scope: asked, onClose }: { scope: ScopeChoice; onClose: () => void }) {
  const { user } = useSession();
  const nameOf = useUserNames();
  const [scope, setScope] = useState(asked);
  const [reason, setReason] = useState('');
  const [hours, setHours] = useState('');
  const stops = useTradingStops();
  const name = scopeText(scope, nameOf);
  const stop = useChange<TradingStopView>({
    send: () =>
      requestJson<TradingStopView>(stopsPath, {
        method: 'POST',
        body: {
          scope: scope.value === null ? { kind: scope.kind } : scope,
          ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
          ...(hours === '' ? {} : { until: new Date(Date.now() + Number(hours) * HOUR_MS).toISOString() }),
        },
      }),
    done: () => ({ title: 'New entries stopped', message: `No entry for ${name} leaves any more.` }),
    refresh: [stopsPath],
  });
  const shown = (stops.data ?? []).filter(
    (one) => one.scope.kind === scope.kind && (user.isAdmin || one.scope.value === user.id),
  );
  const isChosen = scope.kind === 'all' || scope.value !== null;
  const close = stop.isPending ? () => {} : onClose;
  return (
    <Dialog opened onClose={close} title="Stop New Entries">
      <Stack gap="md">
        {shown.length === 0 ? null : (
          <section aria-label="Active stops" className={classes.stops}>
            {shown.map((one) => (
              <ActiveStop key={one.id} stop={one} name={scopeText(one.scope, nameOf)} />
            ))}
          </section>
        )}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isChosen) stop.mutate(undefined, { onSuccess: onClose });
          }}
        >
          <Stack gap="md">
            <Text size="sm">
              Stops automatic orders, reversals, second attempts and orders by hand
              {isChosen ? ` for ${name}` : ''}. Resting orders are cancelled. Positions stay open and keep
              their stops.
            </Text>
            {user.isAdmin ? (
              <ScopeFields scope={scope} disabled={stop.isPending} onChange={setScope} />
            ) : null}
            <TextInput
              label="Reason"
              placeholder="Optional, shown wherever an entry is denied"
              maxLength={200}
              data-autofocus
              autoComplete="off"
              value={reason}
              disabled={stop.isPending}
              onChange={({ currentTarget }) => setReason(currentTarget.value)}
            />
            <Select
              label="Lasts"
              data={LASTS}
              value={hours}
              disabled={stop.isPending}
              onChange={({ currentTarget }) => setHours(currentTarget.value)}
            />
            {stop.error ? (
              <Alert color="red" title="New entries are not stopped" role="alert">
                {serverMessage(stop.error, stop.error.message)}
              </Alert>
            ) : null}
            <DialogButtons
              label="Stop new entries"
              pendingLabel="Stopping..."
              pending={stop.isPending}
              disabled={!isChosen}
              destructive
              onCancel={close}
            />
          </Stack>
        </form>
      </Stack>
    </Dialog>
  );
}

/** A stop with its button; lifting that of everybody asks to type RESUME. */
function ActiveStop({ stop, name }: { stop: TradingStopView; name: string }) {
  const { user } = useSession();
  const formatInstant = useFormatInstant();
  const [typed, setTyped] = useState('');
  const { id, scope, reason, createdAt, createdBy, until } = stop;
  const lift = useChange<null>({
    send: () => requestJson<null>(`${stopsPath}/${id}`, { method: 'DELETE' }),
    done: () => ({ title: 'Stop lifted', message: `New entries for ${name} are possible again.` }),
    failed: { title: 'The stop was not lifted' },
    refresh: [stopsPath],
  });
  const isAll = scope.kind === 'all';
  const mayLift = !isPause(stop) && (user.isAdmin || createdBy === user.username);
  const since = [
    createdAt === null ? null : `since ${formatInstant(createdAt)}`,
    createdBy === null ? null : `by ${createdBy}`,
    until === null ? null : `until ${formatInstant(until)}`,
  ].filter(Boolean);
  return (
    <div className={classes.stop}>
      <div className={classes.about}>
        <strong>{isPause(stop) ? `${name} is paused` : `Stopped for ${name}`}</strong> {since.join(', ')}
        {reason === null ? null : <div className={classes.reason}>{reason}</div>}
      </div>
      {mayLift ? (
        <form
          className={classes.lift}
          onSubmit={(event) => {
            event.preventDefault();
            lift.mutate();
          }}
        >
          {isAll ? (
            <TextInput
              size="xs"
              aria-label={`Type ${RESUME} to lift the stop for everybody`}
              placeholder={`Type ${RESUME}`}
              autoComplete="off"
              value={typed}
              disabled={lift.isPending}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          ) : null}
          <Button
            type="submit"
            size="xs"
            variant="default"
            aria-label={`Lift the stop for ${name}`}
            disabled={lift.isPending || (isAll && typed !== RESUME)}
          >
            {lift.isPending ? 'Lifting...' : 'Lift'}
          </Button>
        </form>
      ) : (
        <span className={classes.reason}>
          {isPause(stop) ? 'It ends in the settings' : 'An administrator lifts it'}
        </span>
      )}
    </div>
  );
}
