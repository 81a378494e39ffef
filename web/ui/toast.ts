interface Toast {
  title: string;
  message?: string;
  /** How long it stays, where that is not the usual time. */
  durationMs?: number;
}

export type ToastColor = 'indigo' | 'red';

type ToastModule = typeof import('./toast-viewport.tsx');

let loading: Promise<ToastModule> | null = null;
let loaded: ToastModule | null = null;
const listeners = new Set<() => void>();

/** The toast library (11 KiB gzip) is not part of the first load. */
export const toastViewport = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  current: () => loaded?.default ?? null,
  load: (): Promise<ToastModule> => {
    loading ??= import('./toast-viewport.tsx').then(
      (module) => {
        loaded = module;
        for (const listener of listeners) listener();
        return module;
      },
      (error: unknown) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  },
};

async function show(toast: Toast, color: ToastColor): Promise<void> {
  const { title, message = '', durationMs } = toast;
  try {
    const { showToast } = await toastViewport.load();
    showToast({ title, message, color, durationMs });
  } catch {
    // Without the library the message still gets through.
    window.alert([title, message].filter(Boolean).join('\n'));
  }
}

export const toastSuccess = (toast: Toast): void => void show(toast, 'indigo');
export const toastError = (toast: Toast): void => void show(toast, 'red');
