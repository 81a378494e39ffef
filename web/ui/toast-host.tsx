import { Notification } from '@mantine/core';
import { type PointerEvent, useCallback, useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { type ShownToast, toasts } from './toast.ts';
import classes from './toast-host.module.css';

const TOAST_MS = 5_000;
/** Duration of the style sheet's transition. */
const WAY_OUT_MS = 250;
/** Swiping a toast by this share of its width removes it. */
const SWIPED_SHARE = 0.35;

/** Mounted once. Loaded with the screens, because a toast may report that the server cannot be reached. */
export function ToastHost() {
  const toast = toasts.use();
  return createPortal(
    <div className={classes.place} data-toasts>
      {toast ? <Toast key={toast.id} toast={toast} /> : null}
    </div>,
    document.body,
  );
}

function Toast({ toast }: { toast: ShownToast }) {
  const { id, title, message, color, durationMs = TOAST_MS } = toast;
  const [stage, setStage] = useState<'shown' | 'held' | 'leaving'>('shown');
  const leave = useCallback(() => {
    setStage('leaving');
    setTimeout(() => toasts.remove(id), WAY_OUT_MS);
  }, [id]);
  const swipe = useSwipe(leave);

  useEffect(() => {
    if (stage !== 'shown') return;
    const timer = setTimeout(leave, durationMs);
    return () => clearTimeout(timer);
  }, [stage, leave, durationMs]);

  const hold = (held: boolean) => stage !== 'leaving' && setStage(held ? 'held' : 'shown');
  return (
    <Notification
      {...swipe}
      className={classes.toast}
      data-leaving={stage === 'leaving' || undefined}
      title={title}
      color={color}
      closeButtonProps={{ 'aria-label': 'Close notification' }}
      onClose={leave}
      // Not on entering: a toast that appears under a resting pointer leaves like any other.
      onMouseMove={() => hold(true)}
      onMouseLeave={() => hold(false)}
    >
      {message}
    </Notification>
  );
}

/** Touch swipes the toast away; the mouse can select its text. */
function useSwipe(onSwiped: () => void) {
  const startX = useRef<number | null>(null);
  const [offsetPx, setOffsetPx] = useState(0);
  const end = () => {
    startX.current = null;
    setOffsetPx(0);
  };
  return {
    style: offsetPx === 0 ? {} : { transform: `translateX(${offsetPx}px)`, transition: 'none' },
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.pointerType !== 'mouse') startX.current = event.clientX;
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (startX.current === null) return;
      const movedPx = event.clientX - startX.current;
      if (Math.abs(movedPx) > event.currentTarget.offsetWidth * SWIPED_SHARE) {
        startX.current = null;
        onSwiped();
      } else setOffsetPx(movedPx);
    },
    onPointerUp: end,
    onPointerCancel: end,
  };
}
