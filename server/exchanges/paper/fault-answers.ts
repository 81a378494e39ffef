import type { StruckFaults } from './faults.ts';
import { type PaperResponse, textResponse } from './paper-http.ts';

/** How an exchange puts what a fault makes it say. */
export interface FaultWords {
  refusal(code: string, message: string, status?: number): PaperResponse;
  tooManyRequests(limit: { retryAfterMs: number | undefined; ofAddress: boolean }): PaperResponse;
  internalError(): PaperResponse;
  wrongKey(): PaperResponse;
}

const LONGEST_DELAY_MS = 600_000;

/** The answer of a request that is never processed; null when it is to be. */
export async function answerBefore(faults: StruckFaults, words: FaultWords): Promise<PaperResponse | null> {
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
  if (badGateway) return textResponse(badGateway.status ?? 502, '<html>bad gateway</html>');
  const broken = faults.find('internalError');
  if (broken && broken.after !== true) return internalError(broken, words);
  if (faults.find('timeout')) return { ...textResponse(200, ''), delivery: 'never' };
  if (faults.find('cutBeforeAccept')) return { ...textResponse(200, ''), delivery: 'cut' };
  if (faults.find('wrongKey')) return words.wrongKey();
  return null;
}

/** What becomes of the answer on its way. */
export function answerAfter(faults: StruckFaults, words: FaultWords, response: PaperResponse): PaperResponse {
  const badGateway = faults.find('badGatewayAfter');
  if (badGateway) return textResponse(badGateway.status ?? 502, '<html>bad gateway</html>');
  const broken = faults.find('internalError');
  if (broken) return internalError(broken, words);
  if (faults.find('acceptThenTimeout')) return { ...response, delivery: 'never' };
  if (faults.find('cutAfterAccept')) return { ...response, delivery: 'cut' };
  if (faults.find('stalledBody')) return { ...response, delivery: 'stalled' };
  if (faults.find('truncatedBody')) return truncated(response);
  if (faults.find('empty200')) return textResponse(200, '');
  if (faults.find('html200')) return textResponse(200, '<html>ok</html>');
  return response;
}

const internalError = ({ envelope }: { envelope?: boolean }, words: FaultWords) =>
  envelope === false ? textResponse(500, '<html>internal server error</html>') : words.internalError();

const truncated = (response: PaperResponse): PaperResponse => ({
  ...response,
  body: response.body.slice(0, Math.floor(response.body.length / 2)),
  delivery: 'truncated',
});

async function waitFor(delayMs: number): Promise<void> {
  const ms = Number(delayMs);
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(ms, LONGEST_DELAY_MS)));
}
