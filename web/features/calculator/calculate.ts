import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { toastError } from '../../ui/toast.ts';
import { refreshAccount } from './calculator-data.ts';
import { PositionFacts } from './position-card.tsx';
import {
  announceRateLimit,
  errorText,
  failureText,
  isRateLimit,
  tellsRateLimit,
} from './request-failures.ts';
import type { CalculationOutcome, CalculationRequest } from './run-calculation.ts';

/** With the figures: loaded after the calculation, they would move the button below them. */
const load = async () => (await Promise.all([import('./run-calculation.ts'), PositionFacts.preload()]))[0];

/** Preloads the code for a calculation, when the user is about to calculate. */
export const prepareCalculation = () => void load().catch(() => {});

const outcomeKey = (calculationId: string) => ['calculation', calculationId] as const;

export function useCalculate() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (request: CalculationRequest) => (await load()).runCalculation(client, request),
    onSuccess: (outcome) => {
      const { answer } = outcome;
      if (answer.positionGeneratorLogId !== null) {
        client.setQueryData(outcomeKey(answer.positionGeneratorLogId), outcome);
      }
      if (!answer.success) announceFailure(failureText(answer));
      void refreshAccount(client);
    },
    onError: (error) => announceFailure(errorText(error), isRateLimit(error)),
  });
}

function announceFailure(text: string, isLimited = tellsRateLimit(text)): void {
  if (isLimited) announceRateLimit();
  else toastError({ title: 'Calculation Failed', message: text });
}

/** The calculation named in the URL, as long as this page remembers it. */
export const useKnownOutcome = (calculationId: string | undefined) =>
  useQuery<CalculationOutcome>({ queryKey: outcomeKey(calculationId ?? ''), enabled: false }).data;
