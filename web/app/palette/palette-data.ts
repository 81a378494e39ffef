import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Signal, SignalsAnswer } from '#contract/signals.ts';
import { isStatus } from '../../lib/api-client.ts';
import { useSession } from '../../lib/session.ts';
import { useNavigationPages } from '../navigation.ts';
import {
  type Command,
  findCommands,
  isFullId,
  type Known,
  signalCommand,
  workflowCommand,
} from './commands.ts';

const SIGNALS_PATH = '/api/signals';
const NEWEST_SIGNALS = 100;

/** The data the palette searches; ordinary users have only pages. */
function useKnown(): { known: Known; failed: string[] } {
  const { user } = useSession();
  const enabled = user.isAdmin;
  const pages = useNavigationPages();
  const users = useQuery<{ id: string; username: string }[]>({
    queryKey: ['/api/users'],
    staleTime: 0,
    enabled,
  });
  const tokens = useQuery<string[]>({ queryKey: [`${SIGNALS_PATH}/tokens`], staleTime: 0, enabled });
  // Same key as the unfiltered signals screen, so its cached data is reused.
  const newest = useQuery<SignalsAnswer>({
    queryKey: [SIGNALS_PATH, { page: 1, limit: NEWEST_SIGNALS }],
    staleTime: 0,
    enabled,
  });
  const client = useQueryClient();
  const loaded = enabled
    ? client
        .getQueriesData<SignalsAnswer>({ queryKey: [SIGNALS_PATH] })
        .flatMap(([, answer]) => answer?.signals ?? [])
    : [];
  const signals = new Map<string, Signal>();
  for (const signal of [...(newest.data?.signals ?? []), ...loaded]) signals.set(signal.id, signal);
  return {
    known: {
      isAdmin: user.isAdmin,
      pages: pages.data ?? [],
      users: users.data ?? [],
      tokens: tokens.data ?? [],
      signals: [...signals.values()],
    },
    failed: [
      { name: 'pages', query: pages },
      { name: 'users', query: users },
      { name: 'tokens', query: tokens },
      { name: 'signals', query: newest },
    ].flatMap(({ name, query }) => (query.isError ? [name] : [])),
  };
}

/** Looks up a full id that is not loaded, first as a signal, then as a workflow. */
function useIdLookUp(
  id: string,
  enabled: boolean,
): { found: Command[]; isPending: boolean; isFailed: boolean } {
  const signalPath = `${SIGNALS_PATH}/${id}`;
  const stepsPath = `/api/automation-workflows/${id}/steps`;
  const signal = useQuery<Signal>({ queryKey: [signalPath], staleTime: 0, enabled });
  const isNoSignal = enabled && isStatus(signal.error, 404);
  const workflow = useQuery<unknown[]>({ queryKey: [stepsPath], staleTime: 0, enabled: isNoSignal });
  if (!enabled) return { found: [], isPending: false, isFailed: false };
  return {
    found: [
      ...(signal.data ? [signalCommand(signal.data)] : []),
      ...(isNoSignal && workflow.data ? [workflowCommand(id)] : []),
    ],
    isPending: signal.isPending || (isNoSignal && workflow.isPending),
    isFailed: [signal.error, workflow.error].some((error) => error !== null && !isStatus(error, 404)),
  };
}

export interface PaletteResult {
  commands: Command[];
  /** Shown below the list: a search in progress, no results, or data that could not be loaded. */
  note: string | null;
}

export function usePaletteResult(query: string): PaletteResult {
  const { known, failed } = useKnown();
  const commands = findCommands(query, known);
  const lookUp = useIdLookUp(query, known.isAdmin && isFullId(query) && commands.length === 0);
  const all = [...commands, ...lookUp.found];
  const lost = [...failed, ...(lookUp.isFailed ? ['this id'] : [])];
  if (lost.length > 0) return { commands: all, note: `Could not be loaded: ${lost.join(', ')}` };
  if (lookUp.isPending) return { commands: all, note: 'Searching...' };
  return { commands: all, note: all.length === 0 ? 'Nothing found' : null };
}
