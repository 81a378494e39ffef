import type { CallResult } from '#server/platform/metrics.ts';
import { currentScope, type ExchangeAnswer } from './call-scope.ts';
import type { Transport } from './transport.ts';
import { TransportError } from './transport-error.ts';

export interface CountedCall {
  platform: string;
  operation: string;
  result: CallResult;
  /** From its leaving on: the wait for a turn under the exchange's limits is not in it, unless that came too late. */
  seconds: number;
}

/** Tells of every request what it asked, what came of it and how long it took; nothing of what was in it. */
export function countCalls(
  transport: Transport,
  options: {
    platform: string;
    isSuccess: (answer: ExchangeAnswer) => boolean;
    onCall: (call: CountedCall) => void;
  },
): Transport {
  const { platform, isSuccess, onCall } = options;
  return {
    ...transport,
    async turn(path) {
      const startedMs = performance.now();
      try {
        await transport.turn(path);
      } catch (error) {
        const seconds = (performance.now() - startedMs) / 1000;
        onCall({ platform, operation: currentScope().type, result: resultOfFailure(error), seconds });
        throw error;
      }
    },
    async fetch(url, request) {
      const scope = currentScope();
      const startedMs = performance.now();
      const tell = (result: CallResult) =>
        onCall({ platform, operation: scope.type, result, seconds: (performance.now() - startedMs) / 1000 });
      try {
        const response = await transport.fetch(url, request);
        tell(scope.answer === null ? 'no-answer' : resultOf(scope.answer, isSuccess));
        return response;
      } catch (error) {
        if (scope.describe === undefined) tell(resultOfFailure(error));
        throw error;
      }
    },
  };
}

function resultOf(answer: ExchangeAnswer, isSuccess: (answer: ExchangeAnswer) => boolean): CallResult {
  if (isSuccess(answer)) return 'success';
  if (answer.status === 429 || answer.status === 418) return 'rate-limited';
  return answer.status >= 500 ? 'server-error' : 'refused';
}

function resultOfFailure(error: unknown): CallResult {
  if (!(error instanceof TransportError)) return 'no-answer';
  return (
    { 'not-sent': 'not-sent', limited: 'not-sent', connect: 'unreachable', sent: 'no-answer' } as const
  )[error.phase];
}
