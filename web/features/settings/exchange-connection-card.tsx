import { Alert } from '@mantine/core';
import { useState } from 'react';
import type { ExchangeCredentials, ConnectionState as State } from '#contract/exchange-credentials.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { ConnectionOutcome } from './connection-outcome.ts';
import { CredentialsForm } from './credentials-form.tsx';
import { useExchangeCredentials } from './exchange-credentials.ts';
import classes from './settings-screen.module.css';
import { useCredentialsForm } from './use-credentials-form.ts';

interface ExchangeConnectionCardProps {
  /** The exchange that the saved settings name. */
  savedPlatform: string;
  userId: string | null;
}

export function ExchangeConnectionCard({ savedPlatform, userId }: ExchangeConnectionCardProps) {
  const tradedOn = EXCHANGE_PLATFORMS.find((platform) => platform === savedPlatform) ?? EXCHANGE_PLATFORMS[0];
  const [exchangePlatform, setExchangePlatform] = useState<ExchangePlatform>(tradedOn);
  const [followed, setFollowed] = useState(tradedOn);
  const [outcome, setOutcome] = useState<ConnectionOutcome | null>(null);
  const form = useCredentialsForm(exchangePlatform);
  const connection = { userId, exchangePlatform };
  const credentials = useExchangeCredentials(connection);
  const choose = (platform: ExchangePlatform) => {
    setExchangePlatform(platform);
    setOutcome(null);
  };
  // The card goes with the saved settings, but a key that is being typed stays with the exchange it is typed for.
  if (tradedOn !== followed) {
    setFollowed(tradedOn);
    if (!form.isDirty()) choose(tradedOn);
  }

  return (
    <Panel
      title="Exchange Connection"
      description="The API key that orders are placed with. Secrets are stored encrypted and never shown again."
    >
      <div className={classes.connection}>
        <QueryView query={credentials} errorTitle="Failed to fetch the exchange connection">
          {(data) => <ConnectionState credentials={data} />}
        </QueryView>
        {exchangePlatform === tradedOn ? null : (
          <p className={classes.text} data-quiet>
            Positions are opened on {tradedOn}, the exchange of the saved trading settings.
          </p>
        )}
        {outcome ? (
          <Alert color={outcome.color} title={outcome.title}>
            {outcome.text}
          </Alert>
        ) : null}
        <CredentialsForm
          form={form}
          connection={connection}
          isStored={(credentials.data?.apiKeyHint ?? null) !== null}
          onPlatform={choose}
          onOutcome={setOutcome}
        />
      </div>
    </Panel>
  );
}

interface StateLook {
  tone: BadgeTone;
  text: string;
}

const BADGES: Readonly<Record<string, StateLook>> = {
  none: { tone: 'neutral', text: 'Not connected' },
  ready: { tone: 'success', text: 'Connected' },
  unverified: { tone: 'warning', text: 'Not verified' },
  rejected: { tone: 'failure', text: 'Rejected' },
  duplicate: { tone: 'failure', text: 'Account in use' },
  'other-mode': { tone: 'warning', text: 'Other mode' },
  unreadable: { tone: 'failure', text: 'Not connected' },
} satisfies Record<State, StateLook>;
const NOT_KNOWN: StateLook = { tone: 'neutral', text: 'Not known' };

const REMEDY = '. Enter another key, or test the connection once the exchange takes this one again.';

function ConnectionState({ credentials }: { credentials: ExchangeCredentials }) {
  const formatInstant = useFormatInstant();
  const { exchangePlatform, apiKeyHint, updatedAt, state, problem } = credentials;
  const badge = BADGES[state] ?? NOT_KNOWN;
  return (
    <>
      <p className={classes.connectionState}>
        <strong>{exchangePlatform}</strong>
        <Badge tone={badge.tone}>{badge.text}</Badge>
        {apiKeyHint === null ? (
          <span>No API key is stored for this exchange.</span>
        ) : (
          <span className="numeric">
            API key <span className="mono">{shownHint(apiKeyHint)}</span>, entered {formatInstant(updatedAt)}
          </span>
        )}
      </p>
      {problem === null ? null : (
        <Alert color={badge.tone === 'failure' ? 'red' : 'yellow'} title="Nothing is traded with this key">
          {problem}
          {state === 'rejected' ? REMEDY : null}
        </Alert>
      )}
      {state === 'unverified' ? (
        <p className={classes.text} data-quiet>
          {exchangePlatform} has not yet said what this key may do and to which account it belongs. Nothing is
          ordered until it has: it is asked when a signal comes, or now by Test Connection.
        </p>
      ) : null}
    </>
  );
}

/** Of a short key not a single character is known here. */
const shownHint = (hint: string) => (hint.startsWith('•') ? hint : `…${hint}`);
