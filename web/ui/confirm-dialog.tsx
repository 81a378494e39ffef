import { lazy, Suspense, useEffect } from 'react';
import type { ConfirmDialogProps } from './confirm-dialog-view.tsx';

const loadView = () => import('./confirm-dialog-view.tsx');
const ConfirmDialogView = lazy(loadView);

/** The parts of a dialog weigh as much as a page: they come after it, and before a server that goes away. */
export function ConfirmDialog({ opened, ...props }: ConfirmDialogProps & { opened: boolean }) {
  useEffect(() => void loadView().catch(() => {}), []);
  return <Suspense fallback={null}>{opened ? <ConfirmDialogView {...props} /> : null}</Suspense>;
}
