import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { answerLeavingWith, hasUnsavedChanges } from './unsaved-changes.ts';

const loadDialog = () => import('./unsaved-changes-dialog.tsx');
const UnsavedChangesDialog = lazy(loadDialog);

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

  // Loaded before it is needed: a server that is away must not keep it from asking.
  useEffect(() => void loadDialog().catch(() => {}), []);

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
