import type { DEFAULT_WORKFLOW_PAGE_SIZE, WORKFLOW_PAGE_SIZES } from '#contract/automation.ts';
import { choice, id, instant, page, searchReader, sorting, text } from '../../lib/search-reader.ts';

/** Copies of the contract's lists, kept equal by their types: importing its module would bundle zod. */
export const PAGE_SIZES: typeof WORKFLOW_PAGE_SIZES = [25, 50, 100];
export const DEFAULT_PAGE_SIZE: typeof DEFAULT_WORKFLOW_PAGE_SIZE = 50;

export const parseAutomationSearch = searchReader({
  page,
  limit: ({ limit }) =>
    PAGE_SIZES.find((size) => size !== DEFAULT_PAGE_SIZE && String(size) === String(limit)),
  processor: text,
  from: instant,
  to: instant,
  status: text,
  id,
  ...sorting,
  dialog: choice(['signal', 'users', 'steps']),
  /** The tab of the users' dialog; the URL omits the first one. */
  tab: choice(['why']),
  /** The user to explain. */
  user: text,
  workflow: text,
  signal: text,
});

export type AutomationSearch = ReturnType<typeof parseAutomationSearch>;

export const CLOSED_DIALOG = {
  dialog: undefined,
  tab: undefined,
  user: undefined,
  workflow: undefined,
  signal: undefined,
} as const;
