import { type ComponentType, useEffect, useEffectEvent, useState } from 'react';
import type { ConfirmDialogProps } from './confirm-dialog-view.tsx';
import { DialogPending } from './dialog-pending.tsx';
import { toastError } from './toast.ts';
import { useFirstSign } from './use-first-sign.ts';

type View = ComponentType<ConfirmDialogProps>;

let loaded: View | null = null;

async function loadView(): Promise<View> {
  loaded ??= (await import('./confirm-dialog-view.tsx')).default;
  return loaded;
}

const prepare = () => void loadView().catch(() => {});

/**
 * The parts of a dialog weigh half a page: they come when somebody begins to use the page. A server that goes away
 * after that does not keep the dialog from opening.
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
