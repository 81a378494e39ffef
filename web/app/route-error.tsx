import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorState } from '../ui/states.tsx';

/** Also what is seen when a page's code could not be loaded, for example after an update of the server. */
export function RouteError({ error }: ErrorComponentProps) {
  return (
    <ErrorState title="This page could not be shown" error={error} onRetry={() => window.location.reload()} />
  );
}
