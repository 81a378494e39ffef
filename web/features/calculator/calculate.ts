import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CurrentPriceAnswer, GenerateAnswer } from '#contract/position-generator.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { formatDecimals } from '../../lib/format.ts';
import { saveSettings } from '../../lib/save-settings.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { type CalculationSettings, settingsToSave } from './calculation-settings.ts';
import { settingsPath } from './get-trading-user.ts';
import {
  fallBackToSignalPrice,
  isRateLimit,
  type PriceComparison,
  tellsRateLimit,
} from './price-comparison.ts';
import { announceRateLimit } from './rate-limit-toast.ts';
import { refreshAccount } from './refresh-account.ts';

export interface CalculationRequest {
  signal: SignalDetail;
  userId: string;
  isSelf: boolean;
  settings: CalculationSettings;
  /** Of the stored settings that these were edited from. */
  updatedAt: string;
}

/** A calculation as it came back, with what was said about the price before. */
export interface CalculationOutcome {
  answer: GenerateAnswer;
  price: PriceComparison;
  /** What it was calculated with. */
  settings: CalculationSettings;
}

const FAILED_TEXT = 'Failed to calculate position parameters.';

const outcomeKey = (calculationId: string) => ['calculation', calculationId] as const;

/** The price is compared first, then the settings are saved, then the position is calculated. */
export function useCalculate() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (request: CalculationRequest): Promise<CalculationOutcome> => {
      const { signal, userId, isSelf, settings, updatedAt } = request;
      const price = await askForPrice({ signal, userId });
      toastSuccess({ title: price.title, message: price.text });

      const path = settingsPath({ userId, isSelf });
      await saveSettings(client, { path, readPath: path, body: { ...settingsToSave(settings), updatedAt } });

      const answer = await requestJson<GenerateAnswer>('/api/internal/position-generator/generate', {
        method: 'POST',
        body: { signalId: signal.id, priceLogId: signal.priceLogId, userId, ...price.request },
      });
      return { answer, price, settings };
    },
    onSuccess: (outcome) => {
      const { answer } = outcome;
      if (answer.positionGeneratorLogId !== null) {
        client.setQueryData(outcomeKey(answer.positionGeneratorLogId), outcome);
      }
      if (answer.success) announce(answer, outcome.price);
      else announceFailure(failureText(answer));
      void refreshAccount(client);
    },
    onError: (error) => announceFailure(errorText(error), isRateLimit(error)),
  });
}

/** The calculation that the address names, as long as this page remembers it. */
export function useKnownOutcome(calculationId: string | undefined): CalculationOutcome | undefined {
  return useQuery<CalculationOutcome>({
    queryKey: outcomeKey(calculationId ?? ''),
    queryFn: () => Promise.reject(new Error('A calculation is only made on request')),
    enabled: false,
  }).data;
}

export const errorText = (error: unknown): string =>
  serverMessage(error, (error instanceof Error && error.message) || FAILED_TEXT);

async function askForPrice({ signal, userId }: { signal: SignalDetail; userId: string }) {
  const path = `/api/current-price/${encodeURIComponent(signal.token)}USDT`;
  const subject = { signalPrice: signal.price, token: signal.token };
  try {
    const answer = await requestJson<CurrentPriceAnswer>(path, {
      params: { marketType: 'futures', userId, timestamp: Date.now() },
      uncached: true,
    });
    // Exact arithmetic is loaded with the first calculation.
    const { comparePrice } = await import('./compare-price.ts');
    return comparePrice(answer, subject);
  } catch (error) {
    return fallBackToSignalPrice(errorText(error), signal.price, isRateLimit(error));
  }
}

function announce(answer: Extract<GenerateAnswer, { success: true }>, price: PriceComparison): void {
  const { token, position, entryPrice } = answer.position;
  const isLimited = price.title === 'Rate Limiting Detected' || tellsRateLimit(answer.message);
  if (!answer.isEstimate && isLimited) {
    announceRateLimit();
    return;
  }
  const calculated = answer.isEstimate
    ? answer.message
    : `${token} ${position} at ${formatDecimals(entryPrice, 4)}`;
  // The toast about the price stood for a moment only: what it said is part of this one.
  toastSuccess({
    title: 'Position Calculated',
    message: `${calculated.replace(/\.$/, '')}. ${price.title}: ${price.text}`,
  });
}

/** Why a calculation was refused, also where the refusal does not say it. */
export const failureText = ({ message, error }: { message: string; error: string }): string =>
  message || error || FAILED_TEXT;

function announceFailure(text: string, isLimited = tellsRateLimit(text)): void {
  if (isLimited) announceRateLimit();
  else toastError({ title: 'Calculation Failed', message: text });
}
