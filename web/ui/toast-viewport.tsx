import { Notifications } from '@mantine/notifications';
import '@mantine/notifications/styles.layer.css';
import classes from './toast-viewport.module.css';

const TOAST_MS = 5000;

export function ToastViewport() {
  return (
    <Notifications
      autoClose={TOAST_MS}
      position="top-right"
      containerWidth="min(440px, calc(100vw - 24px))"
      classNames={{ root: classes.root ?? '', notification: classes.notification ?? '' }}
    />
  );
}
