import { useQuery } from '@tanstack/react-query';
import type { PositionsAnswer } from '#contract/positions.ts';
import { PolledView } from '#web/lists/polled-view.tsx';
import { formatFullPrice, formatQuantity, formatReturn } from '../../lib/figures.ts';
import { usePoll } from '../../lib/live/live-context.tsx';
import { useSession } from '../../lib/session.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Profit } from '../../ui/profit.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { SideBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './my-positions.module.css';

const REFRESH_MS = 10_000;

/** The user's own positions, read-only because only administrators close positions. */
export function MyPositions() {
  const { user } = useSession();
  const formatInstant = useFormatInstant();
  // Polled, because profit moves with the price, which no event announces.
  const positions = useQuery<PositionsAnswer>({
    queryKey: ['/api/my-positions'],
    staleTime: 0,
    refetchInterval: usePoll(REFRESH_MS),
  });
  return (
    <Panel
      title="My positions"
      description={positions.data ? `As of ${formatInstant(positions.data.at)}` : ''}
      aside={
        user.isAdmin ? (
          <ButtonLink to="/positions" variant="default" size="xs">
            All positions
          </ButtonLink>
        ) : null
      }
    >
      <PolledView query={positions} errorTitle="Failed to fetch positions">
        {(answer) => <OwnPositions answer={answer} />}
      </PolledView>
    </Panel>
  );
}

function OwnPositions({ answer: { open, totals, unreachable } }: { answer: PositionsAnswer }) {
  return (
    <>
      {unreachable.map(({ message }) => (
        <p key={message} className={classes.unreachable} role="status">
          Your account could not be read in full, so open positions are missing here: {message}
        </p>
      ))}
      {open.length === 0 && unreachable.length === 0 ? <EmptyState>No open positions</EmptyState> : null}
      {open.length === 0 ? null : (
        <ul className={classes.positions} aria-label="My open positions">
          {open.map(({ exchangePlatform, token, side, quantity, entryPrice, unrealisedProfit, margin }) => (
            <li key={`${exchangePlatform} ${token} ${side}`}>
              <TokenBadge token={token} />
              <SideBadge side={side} />
              <span className={classes.size}>
                {formatQuantity(quantity)} at {formatFullPrice(entryPrice)}
              </span>
              <span className={classes.profit}>
                <Profit amount={unrealisedProfit} aside={formatReturn(unrealisedProfit, margin)} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <dl className={classes.totals}>
        <div>
          <dt>Unrealised profit</dt>
          <dd>
            <Profit amount={totals.unrealisedProfit} />
          </dd>
        </div>
        <div>
          <dt>Realised profit, fees not taken off</dt>
          <dd>
            <Profit amount={totals.realisedProfit} />
          </dd>
        </div>
      </dl>
    </>
  );
}
