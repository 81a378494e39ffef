import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** TradingView cancels a request after 3 s and repeats an alert answered 5xx after 5 s, at most three times. */
export const TIMEOUT_MS = 3_000;
const RESEND_AFTER_MS = 5_000;
const RESENDS = 3;

export interface SentAlert {
  nonce: string;
  /** The id in the 200 response; null when no delivery was answered 200. */
  acknowledgedId: string | null;
  /** For each delivery the status, or the reason why there was none. */
  answers: string[];
  slowestMs: number;
}

/**
 * Sends one alert as TradingView does through a reverse proxy. When the instance cannot be reached or hangs up, the
 * proxy answers 502 and the alert is sent again; a request without a response is cancelled and not repeated.
 */
export async function sendAlert(options: {
  /** Called before every delivery, because the next one may go to another instance. */
  url: () => string;
  nonce: string;
  body: string;
  /** TradingView's timeout by default; longer for a busy machine. */
  timeoutMs?: number;
}): Promise<SentAlert> {
  const sent: SentAlert = { nonce: options.nonce, acknowledgedId: null, answers: [], slowestMs: 0 };
  for (let delivery = 0; delivery <= RESENDS; delivery += 1) {
    if (delivery > 0) await sleep(RESEND_AFTER_MS);
    const since = performance.now();
    const { status, text } = await post(options.url(), options.body, options.timeoutMs ?? TIMEOUT_MS);
    sent.slowestMs = Math.max(sent.slowestMs, performance.now() - since);
    sent.answers.push(String(status));
    if (status === 200) sent.acknowledgedId = (JSON.parse(text) as { id: string }).id;
    if (status !== 'proxy 502' && !(typeof status === 'number' && status >= 500)) break;
  }
  return sent;
}

/** A new connection for each delivery, as from TradingView's many servers. */
const unpooled = new Agent({ pipelining: 0 });

async function post(
  url: string,
  body: string,
  timeoutMs: number,
): Promise<{ status: number | 'proxy 502' | 'cancelled'; text: string }> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const answer = await request(url, { method: 'POST', headers, body, signal, dispatcher: unpooled });
    return { status: answer.statusCode, text: await answer.body.text() };
  } catch {
    return { status: signal.aborted ? 'cancelled' : 'proxy 502', text: '' };
  }
}
