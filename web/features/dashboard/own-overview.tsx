import { Button } from '@mantine/core';
import { useState } from 'react';
import { LastDecisions } from '#web/lists/last-decisions.tsx';
import { PolledView } from '#web/lists/polled-view.tsx';
import { describeTradingState } from '#web/lists/trading-state.ts';
import { useSession } from '../../lib/session.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ActivityPanel } from './activity-panel.tsx';
import { EquityPanel } from './equity-panel.tsx';
import { MyPositions } from './my-positions.tsx';
import classes from './overview.module.css';
import { useOverview } from './overview-data.ts';
import { OverviewTiles } from './overview-tiles.tsx';

const StatementsPanel = lazily<{ userId: string | undefined }>(
  () => import('#web/lists/statements-panel.tsx'),
);
const DecisionsDialog = lazily(() => import('#web/lists/decisions-dialog.tsx'));

/** For an ordinary user: the own account, and why signals were or were not traded. */
export default function OwnOverview() {
  const { user } = useSession();
  const [showsAll, setShowsAll] = useState(false);
  const overview = useOverview({ isAdmin: false });
  const { data } = overview;
  return (
    <>
      <PolledView query={overview} errorTitle="Failed to fetch the overview">
        {(answer) => <OverviewTiles answer={answer} own />}
      </PolledView>
      <div className={classes.columns}>
        <div className={classes.column}>
          {data === undefined ? null : <EquityPanel overview={data} own />}
          <MyPositions />
          <Panel
            title="Your last signals"
            description="Whether they were traded for you, and why not"
            aside={
              <>
                <OwnState state={data?.accounts[0]} />
                <Button variant="default" size="xs" onClick={() => setShowsAll(true)}>
                  All signals
                </Button>
              </>
            }
          >
            <LastDecisions userId={user.id} />
          </Panel>
          <StatementsPanel userId={user.id} />
        </div>
        <div className={classes.column}>
          {data === undefined ? null : (
            <ActivityPanel
              title="Your last trades"
              activity={data.activity}
              at={data.at}
              emptyText="No trades in the last seven days"
            />
          )}
        </div>
      </div>
      {showsAll ? (
        <DecisionsDialog userId={user.id} username={user.username} onClose={() => setShowsAll(false)} />
      ) : null}
    </>
  );
}

function OwnState({ state }: { state: Parameters<typeof describeTradingState>[0] | undefined }) {
  const formatInstant = useFormatInstant();
  if (state === undefined) return null;
  const { word, tone, tip } = describeTradingState(state, formatInstant);
  return tip === undefined ? (
    <Badge tone={tone}>{word}</Badge>
  ) : (
    <Badge tone={tone} tip={tip}>
      {word}
    </Badge>
  );
}
