import { useRouter } from '@tanstack/react-router';
import { useMemo } from 'react';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** This entry was made by opening a dialog: the one before it shows the page as it was. */
    dialogOpened?: boolean;
  }
}

type Change = Record<string, string | undefined>;

interface DialogHistory {
  /** A step forward, so that Back closes the dialog. */
  open: (change: Change) => void;
  /** A tab or a choice inside of the dialog: no step of its own. */
  adjust: (change: Change) => void;
  /** Takes the step back that opening was; a dialog that came with the address is closed by `otherwise`. */
  close: (otherwise: () => void) => void;
}

/** How the dialogs that stand in the address move through the browser's history. */
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
