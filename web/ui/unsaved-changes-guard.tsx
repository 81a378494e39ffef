import { useBlocker } from '@tanstack/react-router';
import { type ComponentType, lazy, Suspense, useCallback, useEffect, useEffectEvent, useState } from 'react';
import { answerLeavingWith, hasUnsavedChanges, loadUnsavedChangesDialog } from './unsaved-changes.ts';
import type { UnsavedChangesDialogProps } from './unsaved-changes-dialog.tsx';

const UnsavedChangesDialog = lazy<ComponentType<UnsavedChangesDialogProps>>(() =>
  loadUnsavedChangesDialog().catch(() => ({ default: PlainQuestion })),
);

export interface Place {
  pathname: string;
  search: object;
}

interface UnsavedChangesGuardProps {
  /** Whether going from one address to the other takes the forms away; defined outside of a component. */
  leaves: (from: Place, to: Place) => boolean;
}

/** Mounted once by a screen with forms: while one of them is unsaved, leaving asks first. */
export function UnsavedChangesGuard({ leaves }: UnsavedChangesGuardProps) {
  const [answerSignOut, setAnswerSignOut] = useState<((leave: boolean) => void) | null>(null);
  const blocker = useBlocker({
    shouldBlockFn: useCallback(({ current, next }) => hasUnsavedChanges() && leaves(current, next), [leaves]),
    enableBeforeUnload: hasUnsavedChanges,
    withResolver: true,
  });

  useEffect(() => answerLeavingWith(() => new Promise((resolve) => setAnswerSignOut(() => resolve))), []);

  const answer = (leave: boolean) => {
    answerSignOut?.(leave);
    setAnswerSignOut(null);
    if (leave) blocker.proceed?.();
    else blocker.reset?.();
  };

  return (
    <Suspense fallback={null}>
      {answerSignOut !== null || blocker.status === 'blocked' ? (
        <UnsavedChangesDialog onStay={() => answer(false)} onLeave={() => answer(true)} />
      ) : null}
    </Suspense>
  );
}

/** The browser's own question, where the dialog could not be loaded. */
function PlainQuestion({ onStay, onLeave }: UnsavedChangesDialogProps) {
  const ask = useEffectEvent(() => {
    const leaves = window.confirm(
      'You have unsaved changes\nWhat you have changed on this page is lost when you leave.',
    );
    if (leaves) onLeave();
    else onStay();
  });
  useEffect(() => ask(), []);
  return null;
}
