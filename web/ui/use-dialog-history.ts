import { useRouter } from '@tanstack/react-router';
import { useMemo } from 'react';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Opening a dialog created this entry; the previous one shows the page without it. */
    dialogOpened?: boolean;
  }
}

type Change = Record<string, string | undefined>;

interface DialogHistory {
  /** Adds a history entry, so that Back closes the dialog. */
  open: (change: Change) => void;
  /** Changes a tab or choice inside the dialog, without a history entry. */
  adjust: (change: Change) => void;
  /** Goes back one entry; `otherwise` closes a dialog that was opened by its URL. */
  close: (otherwise: () => void) => void;
}

/** Keeps open dialogs in the URL and the browser's history. */
export function useDialogHistory(): DialogHistory {
  const router = useRouter();
  return useMemo(() => {
    const navigate = (change: Change, options: object) =>
      void router.navigate({
        to: '.',
        search: (before: object) => ({ ...before, ...change }),
        resetScroll: false,
        ...options,
      });
    return {
      open: (change) => navigate(change, { state: { dialogOpened: true } }),
      adjust: (change) => navigate(change, { replace: true, state: true }),
      close: (otherwise) => {
        if (router.state.location.state.dialogOpened) router.history.back();
        else otherwise();
      },
    };
  }, [router]);
}
