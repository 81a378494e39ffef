import { useRouter } from '@tanstack/react-router';
import { useMemo } from 'react';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Opening a dialog made this entry; the one before it shows the page without it. */
    dialogOpened?: boolean;
  }
}

type Change = Record<string, string | undefined>;

interface DialogHistory {
  /** A step forward, so that Back closes the dialog. */
  open: (change: Change) => void;
  /** A tab or a choice inside the dialog: no step of its own. */
  adjust: (change: Change) => void;
  /** Goes back one step; `otherwise` closes a dialog that came with the address. */
  close: (otherwise: () => void) => void;
}

/** Dialogs in the address, in the browser's history. */
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
