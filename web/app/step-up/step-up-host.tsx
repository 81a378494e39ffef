import { useEffect, useRef, useState } from 'react';
import { hostStepUp, openStepUpQuestion, useStepUpQuestion } from '../../lib/step-up.ts';
import { toastError } from '../../ui/toast.ts';
import type { StepUpDialog } from './step-up-dialog.tsx';

/** Shows the one dialog that asks for a confirmation, above whatever is open. Mounted before the screens. */
export function StepUpHost() {
  const question = useStepUpQuestion();
  const [View, setView] = useState<typeof StepUpDialog | null>(null);
  const close = useRef<() => void>(undefined);
  useEffect(hostStepUp, []);

  useEffect(() => {
    // Every open dialog listens for Escape on the window. This listener was there first, so it can keep the key from
    // dialogs below this one.
    const keepEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || openStepUpQuestion() === null) return;
      event.stopImmediatePropagation();
      close.current?.();
    };
    window.addEventListener('keydown', keepEscape, { capture: true });
    return () => window.removeEventListener('keydown', keepEscape, { capture: true });
  }, []);

  useEffect(() => {
    if (question === null || View !== null) return;
    import('./step-up-dialog.tsx').then(
      (loaded) => setView(() => loaded.StepUpDialog),
      () => {
        toastError({ title: 'Error', message: 'The dialog could not be loaded' });
        question.answer(false);
      },
    );
  }, [question, View]);

  if (question === null || View === null) return null;
  return <View onAnswer={question.answer} closeRef={close} />;
}
