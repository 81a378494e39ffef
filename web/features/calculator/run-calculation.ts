import type { QueryClient } from '@tanstack/react-query';
import type { CurrentPriceAnswer, GenerateAnswer } from '#contract/position-generator.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { formatDecimals } from '../../lib/format.ts';
import { saveSettings } from '../../lib/save-settings.ts';
import { toastSuccess } from '../../ui/toast.ts';
import type { CalculationSettings } from './calculation-settings.ts';
import { comparePrice, fallBackToSignalPrice, type PriceComparison } from './compare-price.ts';
import { announceRateLimit, isRateLimit, tellsRateLimit } from './request-failures.ts';

export interface CalculationRequest {
  signal: SignalDetail;
  userId: string;
  /** API path of the user's settings. */
  settingsPath: string;
  settings: CalculationSettings;
  /** Whether the settings become the user's; otherwise only this calculation uses them. */
  save: boolean;
  /** Version of the stored settings the edit is based on. */
  updatedAt: string;
}

/** A calculation and the price comparison that preceded it. */
export interface CalculationOutcome {
  answer: GenerateAnswer;
  price: PriceComparison;
  settings: CalculationSettings;
}

/** Compares the price first, then saves the settings if asked to, then calculates the position. */
export async function runCalculation(
  client: QueryClient,
  { signal, userId, settingsPath: path, settings, save, updatedAt }: CalculationRequest,
): Promise<CalculationOutcome> {
  const price = await fetchPrice({ signal, userId });
  toastSuccess({ title: price.title, message: price.text });

  // Behaviour and market are not editable.
  const used = { calculationBehavior: 'Futures_Limit_Classic', marketType: 'Futures', ...settings } as const;
  if (save) await saveSettings(client, { path, readPath: path, body: { ...used, updatedAt } });

  const answer = await requestJson<GenerateAnswer>('/api/internal/position-generator/generate', {
    method: 'POST',
    body: { signalId: signal.id, priceLogId: signal.priceLogId, userId, ...price.request, settings: used },
  });
  if (answer.success) announce(answer, price);
  return { answer, price, settings };
}

async function fetchPrice({ signal, userId }: { signal: SignalDetail; userId: string }) {
  const { token, price: signalPrice } = signal;
  try {
    const answer = await requestJson<CurrentPriceAnswer>(
      `/api/current-price/${encodeURIComponent(token)}USDT`,
      { params: { marketType: 'futures', userId, timestamp: Date.now() }, uncached: true },
    );
    return comparePrice(answer, { signalPrice, token });
  } catch (error) {
    const problem = serverMessage(error, error instanceof Error ? error.message : String(error));
    return fallBackToSignalPrice(problem, signalPrice, isRateLimit(error));
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
  // This toast replaces the one about the price, so it repeats that text.
  toastSuccess({
    title: 'Position Calculated',
    message: `${calculated.replace(/\.$/, '')}. ${price.title}: ${price.text}`,
  });
}
