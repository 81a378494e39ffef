import { choice, id, instant, page, searchReader, sorting, text } from '../../lib/search-reader.ts';

const SIGNAL_DIALOGS = ['signal', 'sltp', 'workflows', 'steps', 'trades', 'users'] as const;
export type SignalDialogName = (typeof SIGNAL_DIALOGS)[number];

const PANEL_TABS = ['outcome', 'why', 'sizing', 'runs', 'raw'] as const;

export const parseSignalsSearch = searchReader({
  page,
  token: text,
  action: choice(['buy', 'sell', 'close', 'reduce']),
  timeframe: text,
  processor: text,
  id,
  ...sorting,
  from: instant,
  to: instant,
  /** The open section of the side panel, which is about `signal`. */
  panel: choice(PANEL_TABS),
  dialog: choice(SIGNAL_DIALOGS),
  /** The tab of the users' dialog; the URL omits the first one. */
  tab: choice(['breakdown', 'execution', 'why']),
  /** The user to explain. */
  user: text,
  signal: text,
  workflow: text,
});

export type PanelTab = (typeof PANEL_TABS)[number];
export type SignalsSearch = ReturnType<typeof parseSignalsSearch>;

const CLOSED_DIALOG = { dialog: undefined, tab: undefined, user: undefined, workflow: undefined } as const;
export const CLOSED_PANEL = { ...CLOSED_DIALOG, panel: undefined, signal: undefined } as const;

/** Closes a dialog; the signal stays in the side panel. */
export const closedDialog = ({ panel }: SignalsSearch): SignalsSearch =>
  panel === undefined ? { ...CLOSED_DIALOG, signal: undefined } : CLOSED_DIALOG;
