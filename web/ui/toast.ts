interface Toast {
  title: string;
  message?: string;
}

export type ToastColor = 'indigo' | 'red';

let viewportWanted = false;
const listeners = new Set<() => void>();

/** The toast library (11 KiB gzip) is loaded with the first toast. */
export const toastDemand = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  isWanted: () => viewportWanted,
};

async function show(toast: Toast, color: ToastColor): Promise<void> {
  viewportWanted = true;
  for (const listener of listeners) listener();
  const { showToast } = await import('./toast-viewport.tsx');
  showToast({ title: toast.title, message: toast.message ?? '', color });
}

export const toastSuccess = (toast: Toast): void => void show(toast, 'indigo');
export const toastError = (toast: Toast): void => void show(toast, 'red');
