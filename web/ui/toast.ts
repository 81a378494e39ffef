import { serverMessage } from '../lib/api-client.ts';
import { createStore } from '../lib/store.ts';

export interface Toast {
  title: string;
  message?: string;
  /** Overrides the usual time. */
  durationMs?: number;
}

export interface ShownToast extends Toast {
  id: number;
  color: 'indigo' | 'red';
}

const store = createStore<ShownToast | null>(null);
let lastId = 0;

function show(toast: Toast, color: ShownToast['color']): void {
  lastId += 1;
  store.set({ ...toast, color, id: lastId });
}

/** At most one toast at a time; a new one replaces it. */
export const toastSuccess = (toast: Toast): void => show(toast, 'indigo');
export const toastError = (toast: Toast): void => show(toast, 'red');

/** With the server's message where it has one. */
export const toastFailure = (error: unknown, otherwise: string, title = 'Error'): void =>
  toastError({ title, message: serverMessage(error, otherwise) });

export const toasts = {
  use: store.use,
  shown: store.get,
  /** Does nothing when another toast has taken its place. */
  remove: (id: number) => {
    if (store.get()?.id === id) store.set(null);
  },
};
