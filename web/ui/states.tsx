import { Loader } from '@mantine/core';
import { IconAlertCircle, IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { RefreshButton } from './refresh-button.tsx';
import classes from './states.module.css';

interface LoadingStateProps {
  label?: string;
  /** Pixels of what is loading, so that what is below does not jump. */
  minHeight?: number;
  /** As high as a line of text or as `minHeight`: a page that gets shorter moves what is being pressed. */
  isLine?: boolean;
}

export function LoadingState({ label = 'Loading...', minHeight, isLine = false }: LoadingStateProps) {
  return (
    <div className={classes.state} data-line={isLine || undefined} style={{ minHeight }} role="status">
      <Loader size={isLine ? 'xs' : 'sm'} aria-hidden />
      <span className={classes.detail}>{label}</span>
    </div>
  );
}

export function EmptyState({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={classes.state}>
      <IconInbox size={28} stroke={1.3} className={classes.icon} aria-hidden />
      <p className={classes.text}>{children}</p>
      {action}
    </div>
  );
}

interface ErrorStateProps {
  title: string;
  error: unknown;
  onRetry: () => void;
  retrying?: boolean;
}

export function ErrorState({ title, error, onRetry, retrying = false }: ErrorStateProps) {
  return (
    <div className={classes.state} role="alert">
      <IconAlertCircle size={28} stroke={1.5} className={classes.error} aria-hidden />
      <p className={classes.text}>{title}</p>
      <p className={classes.detail}>{errorText(error)}</p>
      <RetryButton onRetry={onRetry} retrying={retrying} />
    </div>
  );
}

/** For a failed refresh, above the data loaded before. */
export function ErrorBanner({ title, error, onRetry, retrying = false }: ErrorStateProps) {
  return (
    <div className={classes.banner} role="alert">
      <IconAlertCircle size={18} className={classes.error} aria-hidden />
      <span className={classes.bannerText}>
        <strong>{title}</strong> {errorText(error)}
      </span>
      <RetryButton onRetry={onRetry} retrying={retrying} />
    </div>
  );
}

function RetryButton({ onRetry, retrying }: { onRetry: () => void; retrying: boolean }) {
  return (
    <RefreshButton size="xs" busy={retrying} onRefresh={onRetry}>
      {retrying ? 'Trying...' : 'Try again'}
    </RefreshButton>
  );
}

const errorText = (error: unknown) => (error instanceof Error ? error.message : String(error));
