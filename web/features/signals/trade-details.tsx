import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OrderResult } from '#contract/position-maker.ts';
import type { Trade } from '#contract/signals.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts } from '../../ui/facts.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { StatCards } from '../../ui/stat-cards.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { Timeline } from '../../ui/timeline.tsx';
import { FILLS, ORDER_STATES } from '../../ui/why-answer.tsx';
import { groupTrades, type TradeGroups } from './group-trades.ts';
import classes from './signal-dialogs.module.css';
import { useSignalPart } from './signals-data.ts';

export function TradeDetails({ signalId }: { signalId: string }) {
  return (
    <QueryView query={useSignalPart<Trade[]>(signalId, '/trades')} errorTitle="Failed to fetch trades">
      {(trades) =>
        trades.length === 0 ? (
          <EmptyState>No trades found for this signal</EmptyState>
        ) : (
          <Groups groups={groupTrades(trades)} total={trades.length} />
        )
      }
    </QueryView>
  );
}

function Groups({ groups, total }: { groups: TradeGroups; total: number }) {
  const { successful, failed, unsettled, failures, successRate } = groups;
  return (
    <div className={classes.stack}>
      <StatCards
        cards={[
          { label: 'Successful', value: <span className="buy">{successful.length}</span> },
          { label: 'Failed', value: <span className="sell">{failed.length}</span> },
          ...(unsettled.length > 0 ? [{ label: 'In Progress', value: unsettled.length }] : []),
          { label: 'Total', value: total },
          { label: 'Success Rate', value: successRate === null ? '–' : `${Math.round(successRate)}%` },
        ]}
      />
      {successful.length > 0 ? (
        <Section title="Successful Trades">
          {successful.map((trade) => (
            <SuccessfulTrade key={trade.id} trade={trade} />
          ))}
        </Section>
      ) : null}
      {failures.length > 0 ? (
        <Section title="Failed Trades">
          {failures.map(({ reason, count, percentage, users }) => (
            <article key={reason} className={classes.entry}>
              <div className={classes.entryHead}>
                <strong>{reason}</strong>
                <span className="numeric">
                  {count} ({Math.round(percentage)}%)
                </span>
              </div>
              <ul className={classes.users}>
                {users.map(({ username, texts }) => (
                  <li key={username}>
                    {username}
                    {texts.map((text) => (
                      <p key={text} className={classes.quiet}>
                        {text}
                      </p>
                    ))}
                  </li>
                ))}
              </ul>
            </article>
          ))}
        </Section>
      ) : null}
      {unsettled.length > 0 ? (
        <Section title="In Progress">
          {unsettled.map((trade) => (
            <article key={trade.id} className={classes.entry}>
              {trade.username}: {ORDER_STATES[trade.state] ?? trade.state}
              <TradeTimeline tradeId={trade.id} />
            </article>
          ))}
        </Section>
      ) : null}
    </div>
  );
}

function SuccessfulTrade({ trade }: { trade: Trade }) {
  const formatInstant = useFormatInstant();
  const response = trade.exchangeResponse;
  return (
    <article className={classes.entry}>
      <div className={classes.entryHead}>
        <strong>{trade.username}</strong>
        <Badge tone="success">{trade.fillStatus ? FILLS[trade.fillStatus] : 'Filled'}</Badge>
      </div>
      <div className={classes.entryBody}>
        <Facts
          facts={[
            ['Symbol', response?.symbol ?? trade.orderPayload.symbol],
            ['Average Price', response?.priceAvg ?? '–'],
            ['Size', response?.size ?? '–'],
            ['Side', response?.side ?? '–'],
            ['Fee', response?.fee ?? '–'],
            ['Exchange', trade.exchangePlatform],
            ['Order ID', trade.orderId ?? '–'],
            ['Time', formatInstant(trade.createdAt)],
          ]}
        />
      </div>
      <TradeTimeline tradeId={trade.id} />
    </article>
  );
}

/** The history of an order, its stop and its position, line by line. Fetched when it is opened. */
function TradeTimeline({ tradeId }: { tradeId: string }) {
  const [opened, setOpened] = useState(false);
  const order = useQuery<OrderResult>({
    queryKey: [`/api/position-maker/orders/${tradeId}`],
    enabled: opened,
  });
  return (
    <details className={classes.timeline} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>What happened</summary>
      {opened ? (
        <QueryView query={order} errorTitle="Failed to fetch the order">
          {({ verificationJourney: { timeline } }) => <Timeline lines={timeline} />}
        </QueryView>
      ) : null}
    </details>
  );
}
