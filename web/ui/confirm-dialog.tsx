import { type ComponentType, useEffect, useEffectEvent, useState } from 'react';
import type { ConfirmDialogProps } from './confirm-dialog-view.tsx';
import classes from './dialog.module.css';
import { toastError } from './toast.ts';

type View = ComponentType<ConfirmDialogProps>;

let loaded: View | null = null;

async function loadView(): Promise<View> {
  loaded ??= (await import('./confirm-dialog-view.tsx')).default;
  return loaded;
}

const prepare = () => void loadView().catch(() => {});

/**
 * Loads the dialog's code, which weighs half a page, on the first interaction with the page. The dialog then opens even
 * when the server is unreachable.
 */
export function ConfirmDialog({ opened, ...props }: ConfirmDialogProps & { opened: boolean }) {
  useFirstSign(prepare);
  const [view, setView] = useState<View | null>(() => loaded);
  const View = view ?? loaded;
  const isMissing = opened && View === null;
  const fail = useEffectEvent(() => {
    toastError({ title: 'Error', message: 'The dialog could not be loaded' });
    props.onClose();
  });
  useEffect(() => {
    if (!isMissing) return;
    let left = false;
    loadView().then(
      (arrived) => left || setView(() => arrived),
      () => left || fail(),
    );
    return () => {
      left = true;
    };
  }, [isMissing]);
  if (!opened) return null;
  return View ? <View {...props} /> : <DialogPending />;
}

/** Shown while the dialog's code loads; visible after a short delay. */
function DialogPending() {
  return (
    <div className={classes.pending} role="status">
      <span className="spinner" aria-hidden />
      <span className="visually-hidden">Loading...</span>
    </div>
  );
}

const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'input'] as const;

/** Calls `prepare` once, on the first interaction with the page. `prepare` must not change. */
function useFirstSign(prepare: () => void): void {
  useEffect(() => {
    const stop = () => {
      for (const sign of SIGNS) document.removeEventListener(sign, start);
    };
    const start = () => {
      stop();
      prepare();
    };
    for (const sign of SIGNS) document.addEventListener(sign, start);
    return stop;
  }, [prepare]);
}
