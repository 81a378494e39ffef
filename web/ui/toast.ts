import { notifications } from '@mantine/notifications';

interface Toast {
  title: string;
  message?: string;
}

/** Part 1 §8: at most one toast at a time. The library would queue; here the newest replaces the one shown. */
function show(toast: Toast, color: 'indigo' | 'red') {
  notifications.clean();
  notifications.show({
    ...toast,
    message: toast.message ?? '',
    color,
    closeButtonProps: { 'aria-label': 'Close notification' },
  });
}

export const toastSuccess = (toast: Toast): void => show(toast, 'indigo');
export const toastError = (toast: Toast): void => show(toast, 'red');
