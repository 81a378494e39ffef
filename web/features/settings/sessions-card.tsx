import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SessionEntry, SessionList } from '#contract/sessions.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState, LoadingState } from '../../ui/states.tsx';
import { useChange } from '../../ui/use-change.ts';
import classes from './access-cards.module.css';

const sessionsPath = '/api/auth/sessions';

export function SessionsCard() {
  const [asking, setAsking] = useState(false);
  // No event announces a sign-in, so that every opening of the screen fetches them.
  const query = useQuery<SessionList>({ queryKey: [sessionsPath], staleTime: 0 });
  const others = query.data?.sessions.filter(({ current }) => !current).length ?? 0;
  return (
    <Panel title="Sessions" description="The browsers in which you are signed in">
      <QueryView
        query={query}
        errorTitle="Failed to fetch sessions"
        loading={<LoadingState isLine minHeight={60} />}
      >
        {({ sessions }) =>
          sessions.length === 0 ? <EmptyState>No sessions</EmptyState> : <List sessions={sessions} />
        }
      </QueryView>
      {others > 0 ? (
        <Button fullWidth variant="default" className={classes.below} onClick={() => setAsking(true)}>
          Sign out all others
        </Button>
      ) : null}
      {asking ? (
        <ConfirmChange
          title="Sign Out All Others"
          confirmLabel="Sign out all others"
          pendingLabel="Signing out..."
          destructive
          send={() => requestJson<{ message: string }>(sessionsPath, { method: 'DELETE' })}
          done={({ message }) => ({ title: 'Signed Out', message })}
          failed={{ otherwise: 'The other sessions were not ended' }}
          refresh={[sessionsPath]}
          onClose={() => setAsking(false)}
        >
          <Text size="sm">
            Every other browser has to sign in again. You stay signed in here. API tokens stay valid.
          </Text>
        </ConfirmChange>
      ) : null}
    </Panel>
  );
}

function List({ sessions }: SessionList) {
  const formatInstant = useFormatInstant();
  const end = useChange<{ message: string }, SessionEntry>({
    send: ({ id }) => requestJson(`${sessionsPath}/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    done: ({ message }) => ({ title: 'Signed Out', message }),
    failed: { otherwise: 'The session was not ended' },
    refresh: [sessionsPath],
  });
  return (
    <ul className={classes.list} aria-label="Sessions">
      {sessions.map((session) => {
        const device = session.device || 'Unknown device';
        const lastSeen = `Last seen ${formatInstant(session.lastSeenAt)}`;
        return (
          <li key={session.id}>
            <div className={classes.words}>
              <span className={classes.name}>
                {device}
                {session.current ? <Badge tone="success">This session</Badge> : null}
              </span>
              {session.address ? <span className={classes.detail}>{session.address}</span> : null}
              <span className={classes.detail}>{lastSeen}</span>
            </div>
            {session.current ? null : (
              <Button
                size="xs"
                variant="default"
                aria-label={`Sign out ${device}, ${lastSeen}`}
                disabled={end.isPending || session.id === ''}
                onClick={() => end.mutate(session)}
              >
                {end.isPending && end.variables.id === session.id ? 'Signing out...' : 'Sign out'}
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
