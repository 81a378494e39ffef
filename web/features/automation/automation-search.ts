import type { DEFAULT_WORKFLOW_PAGE_SIZE, WORKFLOW_PAGE_SIZES } from '#contract/automation.ts';
import { choiceParam, pageParam, textParam } from '../../lib/search-params.ts';

/** Copies of the contract's lists, kept equal by their types: importing its module would bundle zod. */
export const PAGE_SIZES: typeof WORKFLOW_PAGE_SIZES = [25, 50, 100];
export const DEFAULT_PAGE_SIZE: typeof DEFAULT_WORKFLOW_PAGE_SIZE = 50;
type PageSize = (typeof PAGE_SIZES)[number];

export interface AutomationSearch {
  page?: number | undefined;
  limit?: PageSize | undefined;
  processor?: string | undefined;
  status?: string | undefined;
  dialog?: 'signal' | 'users' | 'steps' | undefined;
  /** The tab of the users' dialog; the URL omits the first one. */
  tab?: 'why' | undefined;
  user?: string | undefined;
  workflow?: string | undefined;
  signal?: string | undefined;
}

export function parseAutomationSearch(raw: Record<string, unknown>): AutomationSearch {
  const limit = PAGE_SIZES.find((size) => String(size) === String(raw.limit));
  return {
    page: pageParam(raw),
    limit: limit === DEFAULT_PAGE_SIZE ? undefined : limit,
    processor: textParam(raw, 'processor'),
    status: textParam(raw, 'status'),
    dialog: choiceParam(raw, 'dialog', ['signal', 'users', 'steps']),
    tab: choiceParam(raw, 'tab', ['why']),
    user: textParam(raw, 'user'),
    workflow: textParam(raw, 'workflow'),
    signal: textParam(raw, 'signal'),
  };
}

export const CLOSED_DIALOG = {
  dialog: undefined,
  tab: undefined,
  user: undefined,
  workflow: undefined,
  signal: undefined,
} as const;
