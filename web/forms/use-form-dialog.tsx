import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { loadUnsavedChangesDialog } from './unsaved-changes.ts';
import { UnsavedChangesQuestion } from './unsaved-changes-question.tsx';

interface FormDialogOptions {
  /** Something is typed that closing would lose. */
  unsaved: boolean;
  /** Closed while the answer is under way, a dialog could not tell what came of it. */
  pending: boolean;
  onClose: () => void;
}

interface FormDialog {
  /** For the dialog's own ways to close it. */
  close: () => void;
  /** Closes without a question: what was typed is saved. */
  done: () => void;
  /** Stands inside of the dialog. */
  question: ReactNode;
}

/** How a dialog with a form of several fields closes: while something is typed in it, it asks first. */
export function useFormDialog({ unsaved, pending, onClose }: FormDialogOptions): FormDialog {
  const [asking, setAsking] = useState(false);
  const mayClose = useRef(false);
  // The back button, a reload, and what else takes the dialog away.
  const blocker = useBlocker({
    shouldBlockFn: () => unsaved && !mayClose.current,
    enableBeforeUnload: () => unsaved && !mayClose.current,
    withResolver: true,
  });

  useEffect(() => {
    // Before it is needed: a server that goes away must not keep it from asking.
    if (unsaved) void loadUnsavedChangesDialog().catch(() => {});
  }, [unsaved]);

  const done = () => {
    mayClose.current = true;
    onClose();
  };
  const isBlocked = blocker.status === 'blocked';
  const answer = (leave: boolean) => {
    setAsking(false);
    if (isBlocked) {
      if (leave) blocker.proceed();
      else blocker.reset();
    } else if (leave) done();
  };
  const isAsking = asking || isBlocked;

  return {
    close: () => {
      // Escape reaches the dialog below the question too.
      if (pending || isAsking) return;
      if (unsaved) setAsking(true);
      else done();
    },
    done,
    question: isAsking ? (
      <UnsavedChangesQuestion text="What you have entered here is lost when you leave." onAnswer={answer} />
    ) : null,
  };
}
