import { Button } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useLive } from '../lib/live/live-context.tsx';
import classes from './live-status.module.css';

interface LiveStatusProps {
  /** Time of the last fetch, in milliseconds; 0 before the first. */
  updatedAt: number;
}

/** Shows how fresh a screen is, with a button to pause it. */
export function LiveStatus({ updatedAt }: LiveStatusProps) {
  const { connection, paused, missed, setPaused } = useLive();
  const age = useAge(updatedAt);
  const look = paused ? 'paused' : connection;
  return (
    <div className={classes.status} data-look={look}>
      <span className={classes.text}>
        <span className={classes.dot} aria-hidden />
        <span role="status">{missed ? 'Paused, there is something new' : TEXTS[look]}</span>
        {updatedAt > 0 ? <span className={classes.age}>updated {ageText(age)}</span> : null}
      </span>
      <Button
        size="compact-xs"
        variant="subtle"
        aria-pressed={paused}
        leftSection={
          paused ? <IconPlayerPlay size={13} aria-hidden /> : <IconPlayerPause size={13} aria-hidden />
        }
        onClick={() => setPaused(!paused)}
      >
        {paused ? 'Resume' : 'Pause'}
      </Button>
    </div>
  );
}

const TEXTS = {
  connecting: 'Connecting',
  live: 'Live',
  paused: 'Paused',
  down: 'Live updates are down, refreshing every 30 s',
} as const;

function ageText(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  return `${Math.floor(seconds / 3_600)} h ago`;
}

function useAge(since: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, now - since);
}
