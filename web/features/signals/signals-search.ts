import { choiceParam, pageParam, textParam } from '../../lib/search-params.ts';

const SIGNAL_DIALOGS = ['signal', 'sltp', 'workflows', 'steps', 'trades', 'users'] as const;
export type SignalDialogName = (typeof SIGNAL_DIALOGS)[number];

export const USERS_TABS = ['breakdown', 'why'] as const;
type UsersTab = (typeof USERS_TABS)[number];

export interface SignalsSearch {
  page?: number | undefined;
  token?: string | undefined;
  action?: 'buy' | 'sell' | undefined;
  timeframe?: string | undefined;
  processor?: string | undefined;
  dialog?: SignalDialogName | undefined;
  /** The tab of the users' dialog; the URL omits the first one. */
  tab?: UsersTab | undefined;
  /** The user to explain. */
  user?: string | undefined;
  signal?: string | undefined;
  workflow?: string | undefined;
}

export function parseSignalsSearch(raw: Record<string, unknown>): SignalsSearch {
  return {
    page: pageParam(raw),
    token: textParam(raw, 'token'),
    action: choiceParam(raw, 'action', ['buy', 'sell']),
    timeframe: textParam(raw, 'timeframe'),
    processor: textParam(raw, 'processor'),
    dialog: choiceParam(raw, 'dialog', SIGNAL_DIALOGS),
    tab: choiceParam(raw, 'tab', USERS_TABS),
    user: textParam(raw, 'user'),
    signal: textParam(raw, 'signal'),
    workflow: textParam(raw, 'workflow'),
  };
}

export const CLOSED_DIALOG = {
  dialog: undefined,
  tab: undefined,
  user: undefined,
  signal: undefined,
  workflow: undefined,
} as const;
