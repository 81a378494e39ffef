import { serverMessage } from '../lib/api-client.ts';
import { createStore } from '../lib/store.ts';

export interface Toast {
  title: string;
  message?: string;
  /** Overrides the default duration. */
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

/** Shows one toast at a time; a new one replaces it. */
export const toastSuccess = (toast: Toast): void => show(toast, 'indigo');
export const toastError = (toast: Toast): void => show(toast, 'red');

/** Shows the server's message, or `otherwise` when there is none. */
export const toastFailure = (error: unknown, otherwise: string, title = 'Error'): void =>
  toastError({ title, message: serverMessage(error, otherwise) });

export const toasts = {
  use: store.use,
  shown: store.get,
  /** Does nothing if another toast has replaced it. */
  remove: (id: number) => {
    if (store.get()?.id === id) store.set(null);
  },
};
