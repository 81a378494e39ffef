import type { OverviewAnswer } from '#contract/overview.ts';
import { PolledView } from '#web/lists/polled-view.tsx';
import { formatCount } from '../../lib/format.ts';
import { AccountsPanel } from './accounts-panel.tsx';
import { ActivityPanel } from './activity-panel.tsx';
import { AttentionCard } from './attention-card.tsx';
import { EquityPanel } from './equity-panel.tsx';
import { MyPositions } from './my-positions.tsx';
import classes from './overview.module.css';
import { useOverview } from './overview-data.ts';
import { OverviewTiles } from './overview-tiles.tsx';

const OUTCOMES = [
  ['filled', 'filled'],
  ['partial', 'partial'],
  ['not_filled', 'not filled'],
  ['skipped', 'skipped'],
  ['aborted', 'aborted'],
  ['failed', 'failed'],
  ['running', 'running'],
] as const;

/** 'Signals today: 9 filled, 2 partial'. */
function describeToday({ outcomesToday }: OverviewAnswer): string {
  const counts = OUTCOMES.flatMap(([kind, words]) => {
    const count = outcomesToday?.[kind] ?? 0;
    return count > 0 ? `${formatCount(count)} ${words}` : [];
  });
  return `Signals today: ${counts.join(', ') || 'none yet'}`;
}

/** For administrators: are we safe, are we making money, what needs me. */
export default function Overview() {
  const overview = useOverview({ isAdmin: true });
  const { data } = overview;
  return (
    <div className={classes.areas}>
      <div className={classes.tiles}>
        <PolledView query={overview} errorTitle="Failed to fetch the overview">
          {(answer) => <OverviewTiles answer={answer} />}
        </PolledView>
      </div>
      <div className={classes.attention}>
        <AttentionCard />
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
            description={describeToday(data)}
            activity={data.activity}
            at={data.at}
            emptyText="Nothing in the last seven days"
          />
        </div>
      )}
    </div>
  );
}
