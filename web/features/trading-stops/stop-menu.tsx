import { IconChevronDown } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useSession } from '../../lib/session.ts';
import { stopDialog, useCloseAllRuns, useTradingStops } from '../../lib/trading-stops.ts';
import { lazily } from '../../ui/lazily.tsx';
import { Menu } from '../../ui/menu.tsx';
import classes from './stop-menu.module.css';

const StopParts = lazily(() => import('./stop-parts.tsx'));

const useStopsForAll = () => (useTradingStops().data ?? []).filter(({ scope }) => scope.kind === 'all');
const closeDialog = () => stopDialog.set(null);

/**
 * The Stop button of the top bar with its menu and dialogs, which load when they are first opened. The button is solid
 * while everybody is stopped.
 */
export function StopMenu() {
  const isStopped = useStopsForAll().length > 0;
  const request = stopDialog.use();
  // Nobody else's session finds it open.
  useEffect(() => closeDialog, []);
  return (
    <span className={classes.place}>
      <Menu
        menuLabel="Stop"
        buttonClassName={isStopped ? classes.stopped : classes.stop}
        button={
          <>
            <span className={classes.label}>{isStopped ? 'Stopped' : 'Stop'}</span>
            <IconChevronDown size={14} aria-hidden />
          </>
        }
      >
        {(close) => <StopParts part="panel" onClose={close} />}
      </Menu>
      {request && <StopParts part="dialog" request={request} onClose={closeDialog} />}
    </span>
  );
}

/** Shown on every screen while everybody is stopped, and while all positions are being closed. */
export function StopBanner() {
  const stops = useStopsForAll();
  const runs = useCloseAllRuns({ enabled: useSession().user.isAdmin === true }).data ?? [];
  return stops.length + runs.length > 0 && <StopParts part="notice" stops={stops} runs={runs} />;
}
