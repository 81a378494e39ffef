import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { loadUnsavedChangesDialog } from './unsaved-changes.ts';
import { UnsavedChangesQuestion } from './unsaved-changes-question.tsx';

interface FormDialogOptions {
  /** Closing would lose input. */
  unsaved: boolean;
  /** Keeps the dialog open until the answer arrives, to show the result. */
  pending: boolean;
  onClose: () => void;
}

interface FormDialog {
  /** For the dialog's own buttons. */
  close: () => void;
  /** Closes without asking, because the input is saved. */
  done: () => void;
  /** Rendered inside the dialog. */
  question: ReactNode;
}

/** Closes a dialog with a form, asking first while it has unsaved input. */
export function useFormDialog({ unsaved, pending, onClose }: FormDialogOptions): FormDialog {
  const [asking, setAsking] = useState(false);
  const mayClose = useRef(false);
  // Covers the back button, a reload and other navigation.
  const blocker = useBlocker({
    shouldBlockFn: () => unsaved && !mayClose.current,
    enableBeforeUnload: () => unsaved && !mayClose.current,
    withResolver: true,
  });

  useEffect(() => {
    // Preload: the question must appear even when the server is unreachable.
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
      // Ignore Escape while the question is open: the key also reaches the dialog below it.
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
