import type { StruckFaults } from './faults.ts';
import { textAnswer, type VenueAnswer } from './http.ts';

/** How an exchange words the answers that faults cause. */
export interface FaultWords {
  refusal(code: string, message: string, status?: number): VenueAnswer;
  tooManyRequests(limit: { retryAfterMs: number | undefined; ofAddress: boolean }): VenueAnswer;
  internalError(): VenueAnswer;
  wrongKey(): VenueAnswer;
}

const LONGEST_DELAY_MS = 600_000;

/** The answer to a request that is not processed; null if it should be. */
export async function answerBefore(faults: StruckFaults, words: FaultWords): Promise<VenueAnswer | null> {
  const delay = faults.find('delay');
  if (delay) await waitFor(delay.delayMs);
  const refuse = faults.find('refuse');
  if (refuse)
    return words.refusal(String(refuse.code), refuse.message ?? 'Refused by a fault', refuse.status);
  const limit = faults.find('tooManyRequests');
  if (limit) {
    return words.tooManyRequests({ retryAfterMs: limit.retryAfterMs, ofAddress: limit.ofAddress === true });
  }
  const badGateway = faults.find('badGatewayBefore');
  if (badGateway) return textAnswer(badGateway.status ?? 502, '<html>bad gateway</html>');
  const broken = faults.find('internalError');
  if (broken && broken.after !== true) return internalError(broken, words);
  if (faults.find('timeout')) return { ...textAnswer(200, ''), delivery: 'never' };
  if (faults.find('cutBeforeAccept')) return { ...textAnswer(200, ''), delivery: 'cut' };
  if (faults.find('wrongKey')) return words.wrongKey();
  return null;
}

/** Applies faults to the answer of a processed request. */
export function answerAfter(faults: StruckFaults, words: FaultWords, response: VenueAnswer): VenueAnswer {
  const badGateway = faults.find('badGatewayAfter');
  if (badGateway) return textAnswer(badGateway.status ?? 502, '<html>bad gateway</html>');
  const broken = faults.find('internalError');
  if (broken) return internalError(broken, words);
  if (faults.find('acceptThenTimeout')) return { ...response, delivery: 'never' };
  if (faults.find('cutAfterAccept')) return { ...response, delivery: 'cut' };
  if (faults.find('stalledBody')) return { ...response, delivery: 'stalled' };
  if (faults.find('truncatedBody')) return truncated(response);
  if (faults.find('empty200')) return textAnswer(200, '');
  if (faults.find('html200')) return textAnswer(200, '<html>ok</html>');
  return response;
}

const internalError = ({ envelope }: { envelope?: boolean }, words: FaultWords) =>
  envelope === false ? textAnswer(500, '<html>internal server error</html>') : words.internalError();

const truncated = (response: VenueAnswer): VenueAnswer => ({
  ...response,
  body: response.body.slice(0, Math.floor(response.body.length / 2)),
  delivery: 'truncated',
});

async function waitFor(delayMs: number): Promise<void> {
  const ms = Number(delayMs);
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(ms, LONGEST_DELAY_MS)));
}
