import { Button, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiToken, ApiTokens } from '#contract/tokens.ts';
import { requestJson } from '../../lib/api-client.ts';
import { capitalise } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState, LoadingState } from '../../ui/states.tsx';
import classes from './access-cards.module.css';
import { tokensPath } from './new-token.ts';

const CreateTokenDialog = lazily(() => import('./create-token-dialog.tsx'));

export function ApiTokensCard() {
  const [creating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<ApiToken | null>(null);
  // No event announces a token or its use, so that every opening of the screen fetches them.
  const query = useQuery<ApiTokens>({ queryKey: [tokensPath], staleTime: 0 });
  return (
    <Panel title="API tokens" description="For programs that act in your name, without a password">
      <QueryView
        query={query}
        errorTitle="Failed to fetch API tokens"
        loading={<LoadingState isLine minHeight={60} />}
      >
        {({ tokens }) =>
          tokens.length === 0 ? (
            <EmptyState>No API tokens</EmptyState>
          ) : (
            <ul className={classes.list} aria-label="API tokens">
              {tokens.map((token) => (
                <TokenItem key={token.id} token={token} onDelete={() => setDeleted(token)} />
              ))}
            </ul>
          )
        }
      </QueryView>
      <Button
        fullWidth
        variant="default"
        className={classes.below}
        leftSection={<IconPlus size={16} aria-hidden />}
        onClick={() => setCreating(true)}
      >
        Create token
      </Button>
      {creating ? <CreateTokenDialog onClose={() => setCreating(false)} /> : null}
      {deleted ? <DeleteTokenDialog token={deleted} onClose={() => setDeleted(null)} /> : null}
    </Panel>
  );
}

function TokenItem({ token, onDelete }: { token: ApiToken; onDelete: () => void }) {
  const formatInstant = useFormatInstant();
  const { name, hint, scopes, lastUsedAt, expiresAt } = token;
  const hasExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  return (
    <li>
      <div className={classes.words}>
        <span className={classes.name}>
          {name || '–'}
          {scopes.map((scope) => (
            <Badge key={scope} tone={scope === 'read' ? 'neutral' : 'warning'}>
              {capitalise(scope)}
            </Badge>
          ))}
          {hasExpired ? <Badge tone="failure">Expired</Badge> : null}
        </span>
        {hint === '' ? null : <span className={`mono ${classes.detail}`}>{hint}</span>}
        <span className={classes.detail}>
          {lastUsedAt === null ? 'Never used' : `Last used ${formatInstant(lastUsedAt)}`}
        </span>
        <span className={classes.detail}>
          {expiresAt === null
            ? 'Never expires'
            : `${hasExpired ? 'Expired' : 'Expires'} ${formatInstant(expiresAt)}`}
        </span>
      </div>
      <Button
        size="xs"
        variant="default"
        aria-label={`Delete token ${name} ${hint}`}
        disabled={token.id === ''}
        onClick={onDelete}
      >
        Delete
      </Button>
    </li>
  );
}

function DeleteTokenDialog({ token, onClose }: { token: ApiToken; onClose: () => void }) {
  return (
    <ConfirmChange
      title="Delete API Token"
      confirmLabel="Delete token"
      pendingLabel="Deleting..."
      destructive
      send={() =>
        requestJson<{ message: string }>(`${tokensPath}/${encodeURIComponent(token.id)}`, {
          method: 'DELETE',
        })
      }
      done={({ message }) => ({ title: 'API Token Deleted', message })}
      failed={{ otherwise: 'The token was not deleted' }}
      refresh={[tokensPath]}
      onClose={onClose}
    >
      <Text size="sm" fw={600}>
        {token.name} {token.hint}
      </Text>
      <Text size="sm">Programs that use this token are refused from now on. This cannot be undone.</Text>
    </ConfirmChange>
  );
}
