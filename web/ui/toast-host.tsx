import { lazy, Suspense, useSyncExternalStore } from 'react';
import { toastDemand } from './toast.ts';

const ToastViewport = lazy(() => import('./toast-viewport.tsx'));

/** Mounted once beside the screens; empty until there is something to say. */
export function ToastHost() {
  const wanted = useSyncExternalStore(toastDemand.subscribe, toastDemand.isWanted);
  return <Suspense fallback={null}>{wanted ? <ToastViewport /> : null}</Suspense>;
}
