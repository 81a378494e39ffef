import { IconCoin, IconHandStop, IconSquareX, IconStack2, IconUser } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import type { PositionsAnswer } from '#contract/positions.ts';
import type { StopKind } from '#domain/orders/trading-stop.ts';
import { formatProfit } from '../../lib/figures.ts';
import { useSession } from '../../lib/session.ts';
import { stopDialog, useTradingStops } from '../../lib/trading-stops.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import classes from './stop-panel.module.css';
import { stateText } from './stop-text.ts';
import { useUserNames } from './use-user-names.ts';

const SCOPES = [
  { kind: 'all', title: 'For everybody', icon: <IconHandStop size={16} aria-hidden /> },
  { kind: 'strategy', title: 'For a strategy', icon: <IconStack2 size={16} aria-hidden /> },
  { kind: 'token', title: 'For a token', icon: <IconCoin size={16} aria-hidden /> },
  { kind: 'user', title: 'For a user', icon: <IconUser size={16} aria-hidden /> },
] as const;

/** The content of the Stop menu; an ordinary user stops only their own entries. */
export function StopPanel({ onClose }: { onClose: () => void }) {
  const { user } = useSession();
  const stops = useTradingStops();
  const nameOf = useUserNames();
  const formatInstant = useFormatInstant();
  const root = useRef<HTMLDivElement>(null);
  // The menu focused its first item before this panel was loaded.
  useEffect(() => root.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus(), []);
  const open = (action: 'stop' | 'close-all', kind: StopKind, value: string | null = null) => {
    onClose();
    stopDialog.set({ action, kind, value });
  };
  const stateOf = (kind: StopKind) => {
    if (stops.isError && !stops.data) return 'The stops could not be loaded';
    return stops.data ? stateText(stops.data, { kind, nameOf, formatInstant }) : 'Loading...';
  };
  return (
    <div ref={root} className={classes.panel}>
      <div className={classes.group}>Stop new entries</div>
      {user.isAdmin ? (
        SCOPES.map(({ kind, title, icon }) => (
          <Item
            key={kind}
            icon={icon}
            title={title}
            state={stateOf(kind)}
            onSelect={() => open('stop', kind)}
          />
        ))
      ) : (
        <Item
          icon={<IconHandStop size={16} aria-hidden />}
          title="For me"
          state={stateOf('user')}
          onSelect={() => open('stop', 'user', user.id)}
        />
      )}
      {user.isAdmin ? (
        <div className={classes.apart}>
          <div className={classes.group}>Flatten</div>
          <Item
            danger
            icon={<IconSquareX size={16} aria-hidden />}
            title="Close all positions…"
            state={<OpenPositions />}
            onSelect={() => open('close-all', 'all')}
          />
        </div>
      ) : null}
      <p className={classes.note}>A stop never blocks closing, protecting or checking positions.</p>
    </div>
  );
}

interface ItemProps {
  icon: ReactNode;
  title: string;
  state: ReactNode;
  danger?: boolean;
  onSelect: () => void;
}

function Item({ icon, title, state, danger = false, onSelect }: ItemProps) {
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={danger ? `${classes.item} ${classes.danger}` : classes.item}
      onClick={onSelect}
    >
      {icon}
      <span>
        <span className={classes.title}>{title}</span>
        <span className={classes.state}>{state}</span>
      </span>
    </button>
  );
}

/** What closing would concern. Positions that were opened elsewhere are not counted. */
function OpenPositions() {
  const query = useQuery<PositionsAnswer>({ queryKey: ['/api/positions'] });
  if (!query.data)
    return query.isError ? 'The positions could not be loaded; asks to type CLOSE' : 'Loading...';
  const own = query.data.open.filter(({ tradeId }) => tradeId !== null);
  if (own.length === 0) return 'No position of ours is open';
  const users = new Set(own.map(({ userId }) => userId)).size;
  const profit = own.reduce((sum, { unrealisedProfit }) => sum + Number(unrealisedProfit), 0);
  const count = own.length === 1 ? '1 position' : `${own.length} positions`;
  const of = users === 1 ? '1 user' : `${users} users`;
  return `${count} of ${of}, ${formatProfit(profit)} open; asks to type CLOSE`;
}
