import { useQuery } from '@tanstack/react-query';
import type {
  EligibilityBreakdown,
  SignalDetail,
  SignalUser,
  SignalWorkflows,
  StopLevelsAnswer,
  Trade,
  WhyAnswer,
} from '#contract/signals.ts';
import { requestJson } from '../../lib/api-client.ts';
import { signalsPath } from './get-signals.ts';

/** A dialog that is opened again shows how things stand now, not how they stood last time. */
function useSignalPart<Part>(signalId: string, part: string) {
  const path = `${signalsPath}/${encodeURIComponent(signalId)}${part}`;
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<Part>(path, { signal }),
    staleTime: 0,
  });
}

export const useSignal = (signalId: string) => useSignalPart<SignalDetail>(signalId, '');
export const useTrades = (signalId: string) => useSignalPart<Trade[]>(signalId, '/trades');
export const useStopLevels = (signalId: string) => useSignalPart<StopLevelsAnswer>(signalId, '/sltp');
export const useSignalUsers = (signalId: string) => useSignalPart<SignalUser[]>(signalId, '/users');
export const useSignalWorkflows = (signalId: string) =>
  useSignalPart<SignalWorkflows>(signalId, '/workflows');

/** Why one user traded the signal or did not, in its newest workflow or in the one that is named. */
export function useWhy(options: { signalId: string; userId: string; workflowId: string | undefined }) {
  const { signalId, userId, workflowId } = options;
  const path = `${signalsPath}/${encodeURIComponent(signalId)}/why/${encodeURIComponent(userId)}`;
  const params = { workflowId };
  return useQuery({
    queryKey: [path, params],
    queryFn: ({ signal }) => requestJson<WhyAnswer>(path, { params, signal }),
    staleTime: 0,
  });
}

const breakdownPath = '/api/signal/check-eligibility';

/** A question that is asked by POST; it changes nothing. */
export function useEligibilityBreakdown(signalId: string) {
  const body = { signalId };
  return useQuery({
    queryKey: [breakdownPath, body],
    queryFn: ({ signal }) =>
      requestJson<EligibilityBreakdown>(breakdownPath, { method: 'POST', body, signal }),
    staleTime: 0,
  });
}

const usersPath = '/api/users';

/** Everybody, for the choice of a user. */
export const useAllUsers = () =>
  useQuery({
    queryKey: [usersPath],
    queryFn: ({ signal }) => requestJson<{ id: string; username: string }[]>(usersPath, { signal }),
    staleTime: 0,
  });
