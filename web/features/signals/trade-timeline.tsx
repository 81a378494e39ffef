import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OrderResult } from '#contract/position-maker.ts';
import { requestJson } from '../../lib/api-client.ts';
import { QueryView } from '../../ui/query-view.tsx';
import classes from './signal-dialogs.module.css';

function useOrderTimeline(tradeId: string) {
  const path = `/api/position-maker/orders/${tradeId}`;
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<OrderResult>(path, { signal }),
  });
}

/** What happened to an order, its stop and its position, line by line; asked for when somebody wants to know. */
export function TradeTimeline({ tradeId }: { tradeId: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <details className={classes.timeline} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>What happened</summary>
      {opened ? <Lines tradeId={tradeId} /> : null}
    </details>
  );
}

function Lines({ tradeId }: { tradeId: string }) {
  return (
    <QueryView query={useOrderTimeline(tradeId)} errorTitle="Failed to fetch the order">
      {({ verificationJourney: { timeline } }) => (
        <ol aria-label="Timeline">
          {timeline.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added at the end
            <li key={index}>{line}</li>
          ))}
        </ol>
      )}
    </QueryView>
  );
}
