import { lazy, Suspense } from 'react';
import type { ConfirmDialogProps } from './confirm-dialog-view.tsx';

/** The parts of a dialog weigh as much as a page: they are loaded with the first question. */
const ConfirmDialogView = lazy(() => import('./confirm-dialog-view.tsx'));

export function ConfirmDialog({ opened, ...props }: ConfirmDialogProps & { opened: boolean }) {
  return <Suspense fallback={null}>{opened ? <ConfirmDialogView {...props} /> : null}</Suspense>;
}
