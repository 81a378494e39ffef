import { Notifications, notifications } from '@mantine/notifications';
import '@mantine/notifications/styles.layer.css';
import type { ToastColor } from './toast.ts';
import classes from './toast-viewport.module.css';

const TOAST_MS = 5000;

export default function ToastViewport() {
  return (
    <Notifications
      autoClose={TOAST_MS}
      position="bottom-right"
      classNames={{ root: classes.root ?? '', notification: classes.notification ?? '' }}
    />
  );
}

/** Part 1 §8: at most one toast at a time. The library would queue; here the newest replaces the one shown. */
export function showToast(toast: {
  title: string;
  message: string;
  color: ToastColor;
  durationMs: number | undefined;
}): void {
  const { durationMs = TOAST_MS, ...shown } = toast;
  notifications.clean();
  notifications.show({
    ...shown,
    autoClose: durationMs,
    closeButtonProps: { 'aria-label': 'Close notification' },
  });
}
