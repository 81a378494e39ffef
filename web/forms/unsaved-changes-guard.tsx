import { useBlocker } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { answerLeavingWith, hasUnsavedChanges } from './unsaved-changes.ts';
import { UnsavedChangesQuestion } from './unsaved-changes-question.tsx';

export interface Place {
  pathname: string;
  search: object;
}

interface UnsavedChangesGuardProps {
  /** Whether a navigation removes the forms. Define it outside a component, to keep its identity. */
  leaves: (from: Place, to: Place) => boolean;
}

/** Mounted once by a screen with forms; asks before leaving while one of them has unsaved input. */
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

  if (answerSignOut === null && blocker.status !== 'blocked') return null;
  return (
    <UnsavedChangesQuestion
      text="What you have changed on this page is lost when you leave."
      onAnswer={answer}
    />
  );
}
