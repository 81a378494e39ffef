import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { CallResult, Metrics } from '#server/platform/metrics.ts';
import { type CallContext, ExchangeError, NOT_SENT } from '../exchange.ts';
import { refusalOf } from './platform-words.ts';
import { BookRefusal } from './refusals.ts';

/** One call of the port, as shown in the API call sequence. */
export interface PaperCall {
  type: string;
  method: 'GET' | 'POST';
  /** Defaults to a path that names the call. */
  endpoint?: string;
  requestData: unknown;
  context: CallContext | undefined;
}

export type RunPaperCall = <T>(
  call: PaperCall,
  work: () => Promise<T>,
  /** The displayed part of the result; all of it by default. */
  shown?: (result: T) => unknown,
) => Promise<T>;

/**
 * Runs calls to the books: records each for the API call sequence, counts it, and turns refusals of the books into an
 * ExchangeError with the platform's message. Any other failure leaves open whether the call took effect.
 */
export function createPaperCalls(options: {
  platform: ExchangePlatform;
  clock: Clock;
  onCall?: Metrics['exchangeCalled'] | undefined;
  onError: (error: unknown) => void;
}): RunPaperCall {
  const { platform, clock, onCall, onError } = options;

  return async (call, work, shown = (result) => result) => {
    const { type, method, endpoint = `/paper/${type}`, requestData, context } = call;
    const timestamp = clock.now().toISOString();
    const startedMs = clock.monotonicMs();
    function end(result: CallResult, status: number | null, responseData: unknown): void {
      const ms = clock.monotonicMs() - startedMs;
      onCall?.({ platform, operation: type, result, seconds: ms / 1000 });
      context?.onCall?.({
        type,
        method,
        endpoint,
        timestamp,
        requestData,
        responseData,
        success: result === 'success',
        status,
        durationMs: Math.round(ms),
      });
    }
    try {
      const result = await work();
      end('success', 200, shown(result) ?? null);
      return result;
    } catch (error) {
      // Refused before the books were touched.
      if (error instanceof ExchangeError && error.code === NOT_SENT) throw error;
      if (error instanceof BookRefusal) {
        const { code, message } = refusalOf(platform, error.reason);
        end('refused', 400, { code, message });
        throw new ExchangeError('refused', `${platform}: ${message} (${code})`, { code, cause: error });
      }
      if (error instanceof ExchangeError) {
        end('refused', 400, { message: error.message });
        throw error;
      }
      onError(error);
      const message = 'the paper books could not be read or written';
      end('no-answer', null, { error: message });
      throw new ExchangeError('unknown', `${platform}: ${message}`, { cause: error });
    }
  };
}
