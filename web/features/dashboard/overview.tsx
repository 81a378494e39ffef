import { PolledView } from '#web/lists/polled-view.tsx';
import { AccountsPanel } from './accounts-panel.tsx';
import { ActivityPanel } from './activity-panel.tsx';
import { AttentionCard } from './attention-card.tsx';
import { EquityPanel } from './equity-panel.tsx';
import { MyPositions } from './my-positions.tsx';
import classes from './overview.module.css';
import { useOverview } from './overview-data.ts';
import { OverviewTiles } from './overview-tiles.tsx';

/** For administrators: are we safe, are we making money, what needs me. */
export default function Overview() {
  const overview = useOverview({ isAdmin: true });
  const { data } = overview;
  return (
    <div className={classes.areas}>
      <div className={classes.attention}>
        <AttentionCard />
      </div>
      <div className={classes.tiles}>
        <PolledView query={overview} errorTitle="Failed to fetch the overview">
          {(answer) => <OverviewTiles answer={answer} />}
        </PolledView>
      </div>
      <div className={classes.column}>
        {data === undefined ? null : (
          <>
            <EquityPanel overview={data} />
            <AccountsPanel accounts={data.accounts} />
          </>
        )}
        <MyPositions />
      </div>
      {data === undefined ? null : (
        <div className={classes.activityArea}>
          <ActivityPanel
            title="Activity"
            activity={data.activity}
            at={data.at}
            emptyText="Nothing in the last seven days"
          />
        </div>
      )}
    </div>
  );
}
