import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { StatementFee } from '#contract/statements.ts';
import { userPath } from '../../lib/user-paths.ts';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingState } from '../../ui/states.tsx';
import classes from './settings-screen.module.css';

const StatementFeeDialog = lazily(() => import('./statement-fee-dialog.tsx'));

/** The percentage in a user's monthly statements, which administrators set. */
export default function StatementFeeCard({ user }: { user: { id: string; username: string } }) {
  const path = `${userPath(user.id)}/statement-fee`;
  const fee = useQuery<StatementFee>({ queryKey: [path] });
  const [editing, setEditing] = useState(false);
  return (
    <Panel
      title="Performance fee"
      description="Computed in monthly statements, never collected"
      aside={
        fee.data ? (
          <Button size="xs" variant="default" onClick={() => setEditing(true)}>
            Edit fee
          </Button>
        ) : null
      }
    >
      <QueryView query={fee} errorTitle="Failed to fetch the fee" loading={<LoadingState isLine />}>
        {({ percent }) => (
          <p className={classes.text}>
            {Number(percent) === 0
              ? 'No fee'
              : `${percent} % of what a month's end is above the highest month end before it`}
          </p>
        )}
      </QueryView>
      {editing && fee.data ? (
        <StatementFeeDialog
          path={path}
          username={user.username}
          percent={fee.data.percent}
          onClose={() => setEditing(false)}
        />
      ) : null}
    </Panel>
  );
}
