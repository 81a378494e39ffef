import { choice, page, searchReader, text } from '../../lib/search-reader.ts';

const SIGNAL_DIALOGS = ['signal', 'sltp', 'workflows', 'steps', 'trades', 'users'] as const;
export type SignalDialogName = (typeof SIGNAL_DIALOGS)[number];

export const parseSignalsSearch = searchReader({
  page,
  token: text,
  action: choice(['buy', 'sell']),
  timeframe: text,
  processor: text,
  dialog: choice(SIGNAL_DIALOGS),
  /** The tab of the users' dialog; the URL omits the first one. */
  tab: choice(['breakdown', 'why']),
  /** The user to explain. */
  user: text,
  signal: text,
  workflow: text,
});

export type SignalsSearch = ReturnType<typeof parseSignalsSearch>;

export const CLOSED_DIALOG = {
  dialog: undefined,
  tab: undefined,
  user: undefined,
  signal: undefined,
  workflow: undefined,
} as const;
