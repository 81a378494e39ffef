import { useQuery } from '@tanstack/react-query';
import type {
  SignalDetail,
  SignalWorkflows,
  StopLevelsAnswer,
  Trade,
  UserEligibility,
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
export const useSignalUsers = (signalId: string) => useSignalPart<UserEligibility[]>(signalId, '/users');
export const useSignalWorkflows = (signalId: string) =>
  useSignalPart<SignalWorkflows>(signalId, '/workflows');
