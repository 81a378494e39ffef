import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** What TradingView's help says of its alerts: cancelled after 3 s; after a 5xx sent again 5 s later, three times at most. */
export const TIMEOUT_MS = 3_000;
const RESEND_AFTER_MS = 5_000;
const RESENDS = 3;

export interface SentAlert {
  nonce: string;
  /** The id in the 200's answer; null when no delivery was ever answered with one. */
  acknowledgedId: string | null;
  /** One for each delivery: the status, or why there was none. */
  answers: string[];
  slowestMs: number;
}

/**
 * Sends one alert as TradingView does. A reverse proxy stands before the instances: one that cannot be reached or
 * hangs up is a 502 of the proxy, which is sent again; one that is silent is cancelled, which is not.
 */
export async function sendAlert(options: {
  /** Asked before every delivery: the next one may go to another instance. */
  url: () => string;
  nonce: string;
  body: string;
  /** TradingView's patience unless a machine that is busy with something else is to be put up with. */
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

interface Answer {
  status: number | 'proxy 502' | 'cancelled';
  text: string;
}

function post(url: string, body: string, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve) => {
    let isCancelled = false;
    const call = request(
      url,
      {
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => done({ status: response.statusCode ?? 0, text }));
        response.on('error', () => done({ status: isCancelled ? 'cancelled' : 'proxy 502', text }));
      },
    );
    const limit = setTimeout(() => {
      isCancelled = true;
      call.destroy();
    }, timeoutMs);
    function done(answer: Answer): void {
      clearTimeout(limit);
      resolve(answer);
    }
    call.on('error', () => done({ status: isCancelled ? 'cancelled' : 'proxy 502', text: '' }));
    call.end(body);
  });
}
