interface Toast {
  title: string;
  message?: string;
  /** How long it stays, where that is not the usual time. */
  durationMs?: number;
}

export interface ShownToast extends Toast {
  id: number;
  color: 'indigo' | 'red';
}

let shown: ShownToast | null = null;
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: ShownToast | null): void {
  shown = next;
  for (const listener of listeners) listener();
}

function show(toast: Toast, color: ShownToast['color']): void {
  lastId += 1;
  change({ ...toast, color, id: lastId });
}

/** At most one toast at a time; a new one replaces it. */
export const toastSuccess = (toast: Toast): void => show(toast, 'indigo');
export const toastError = (toast: Toast): void => show(toast, 'red');

export const toasts = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  shown: () => shown,
  /** Nothing happens when another one has taken its place. */
  remove: (id: number) => {
    if (shown?.id === id) change(null);
  },
};
