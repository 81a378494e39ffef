import { type ComponentType, lazy, Suspense, useEffect, useEffectEvent } from 'react';
import { loadUnsavedChangesDialog } from './unsaved-changes.ts';
import type { UnsavedChangesDialogProps } from './unsaved-changes-dialog.tsx';

const UnsavedChangesDialog = lazy<ComponentType<UnsavedChangesDialogProps>>(() =>
  loadUnsavedChangesDialog().catch(() => ({ default: PlainQuestion })),
);

export function UnsavedChangesQuestion(props: UnsavedChangesDialogProps) {
  return (
    <Suspense fallback={null}>
      <UnsavedChangesDialog {...props} />
    </Suspense>
  );
}

/** Falls back to the browser's own dialog when ours cannot be loaded. */
function PlainQuestion({ text, onAnswer }: UnsavedChangesDialogProps) {
  const ask = useEffectEvent(() => onAnswer(window.confirm(`You have unsaved changes\n${text}`)));
  useEffect(() => ask(), []);
  return null;
}
