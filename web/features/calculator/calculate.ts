import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CurrentPriceAnswer, GenerateAnswer } from '#contract/position-generator.ts';
import type { UserSettings } from '#contract/settings.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { type CalculationSettings, settingsToSave } from './calculation-settings.ts';
import { settingsPath } from './get-trading-user.ts';
import { fallBackToSignalPrice, type PriceComparison, tellsRateLimit } from './price-comparison.ts';
import { refreshAccount } from './refresh-account.ts';

export interface CalculationRequest {
  signal: SignalDetail;
  userId: string;
  isSelf: boolean;
  settings: CalculationSettings;
}

/** A calculation as it came back, with what was said about the price before. */
export interface CalculationOutcome {
  answer: GenerateAnswer;
  price: PriceComparison;
  /** What it was calculated with. */
  settings: CalculationSettings;
}

const FAILED_TEXT = 'Failed to calculate position parameters.';
const RATE_LIMIT_TOAST_MS = 5_000;

const outcomeKey = (calculationId: string) => ['calculation', calculationId] as const;

/** The price is compared first, then the settings are saved, then the position is calculated (part 2 §4). */
export function useCalculate() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (request: CalculationRequest): Promise<CalculationOutcome> => {
      const { signal, userId, isSelf, settings } = request;
      const price = await askForPrice({ signal, userId });
      toastSuccess({ title: price.title, message: price.text });

      const path = settingsPath({ userId, isSelf });
      const saved = await requestJson<{ success: true; data: UserSettings }>(path, {
        method: 'PUT',
        body: settingsToSave(settings),
      });
      client.setQueryData([path], saved);

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
      if (answer.success) announce(answer);
      else announceFailure(answer.message || answer.error);
      void refreshAccount(client);
    },
    onError: (error) => announceFailure(errorText(error)),
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
    return fallBackToSignalPrice(serverMessage(error, errorText(error)), signal.price);
  }
}

function announce(answer: Extract<GenerateAnswer, { success: true }>): void {
  const { token, position, entryPrice } = answer.position;
  if (!answer.isEstimate && tellsRateLimit(answer.message)) announceRateLimit();
  else {
    toastSuccess({
      title: 'Position Calculated',
      message: answer.isEstimate ? answer.message : `${token} ${position} at ${entryPrice}`,
    });
  }
}

function announceFailure(text: string): void {
  if (tellsRateLimit(text)) announceRateLimit();
  else toastError({ title: 'Calculation Failed', message: text || FAILED_TEXT });
}

function announceRateLimit(): void {
  toastSuccess({
    title: 'Rate Limiting Detected',
    message: 'Fallback calculations use the real account balance, and results remain accurate.',
    durationMs: RATE_LIMIT_TOAST_MS,
  });
}
