import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { documentedAnswer, parametersIn } from './exchange-suite-answers.ts';
import type { VenueRequest } from './http.ts';

export interface SeenRequest {
  key: string | null;
  endpoint: string;
  body: Record<string, unknown>;
  atMs: number;
  /** How long ago the request was signed. */
  signatureAgeMs: number;
  status: number;
}

/** An exchange that answers like Bitget and refuses requests beyond Bitget's documented limits. */
export interface StrictExchange {
  url: string;
  requests: SeenRequest[];
  /** Refuses the next `times` requests of this key to this endpoint with 429. */
  refuse(key: string, endpoint: string, options: { times: number; retryAfterSeconds: number }): void;
  /** Answers the next request of this key to this endpoint with this code. */
  answerWith(key: string, endpoint: string, code: string): void;
  /** Sets the leverage of this key's account, as somebody else might have; initially 10. */
  setLeverage(key: string, leverage: string): void;
  close(): Promise<void>;
}

export async function startStrictExchange(limits: {
  perSecondOfKey: (endpoint: string) => number;
  /** Within two seconds; real exchanges count longer periods. */
  perTwoSecondsOfAddress: number;
}): Promise<StrictExchange> {
  const requests: SeenRequest[] = [];
  const codes = new Map<string, string>();
  const leverages = new Map<string, string>();
  const refusals = new Map<string, { times: number; retryAfterSeconds: number }>();

  function isTooMuch(key: string | null, endpoint: string, atMs: number): boolean {
    let [ofKey, ofAddress] = [0, 0];
    for (let index = requests.length - 1; index >= 0; index -= 1) {
      const seen = requests[index];
      if (seen === undefined || atMs - seen.atMs >= 2_000) break;
      ofAddress += 1;
      const isRecent = atMs - seen.atMs < 1_000;
      if (isRecent && key !== null && seen.key === key && seen.endpoint === endpoint) ofKey += 1;
    }
    return ofAddress >= limits.perTwoSecondsOfAddress || ofKey >= limits.perSecondOfKey(endpoint);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { pathname, search } = new URL(request.url ?? '/', 'http://exchange');
    const asked = {
      method: request.method ?? 'GET',
      path: pathname,
      query: search.slice(1),
      headers: {},
      body: text,
    };
    const endpoint = pathname.split('/').at(-1) ?? '';
    const key = request.headers['access-key'] === undefined ? null : String(request.headers['access-key']);
    const atMs = performance.now();
    const refusal = refusals.get(`${key} ${endpoint}`);
    const isRefused = refusal !== undefined && refusal.times > 0;
    if (isRefused) refusal.times -= 1;
    const status = isRefused || isTooMuch(key, endpoint, atMs) ? 429 : 200;
    const body = parametersIn(asked);
    const code = codes.get(`${key} ${endpoint}`) ?? '00000';
    codes.delete(`${key} ${endpoint}`);
    if (endpoint === 'set-leverage' && key !== null) leverages.set(key, String(body.leverage));
    const leverage = leverages.get(key ?? '') ?? '10';
    const signatureAgeMs = Date.now() - Number(request.headers['access-timestamp']);
    requests.push({ key, endpoint, body, atMs, signatureAgeMs, status });
    const headers = isRefused ? { 'retry-after': String(refusal.retryAfterSeconds) } : {};
    const envelope =
      status === 429
        ? { code: '429', msg: 'Too Many Requests', data: null }
        : { code, msg: '', data: code === '00000' ? dataOf(asked, endpoint, leverage) : null };
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(envelope));
  }

  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith: (key, endpoint, code) => void codes.set(`${key} ${endpoint}`, code),
    setLeverage: (key, leverage) => void leverages.set(key, leverage),
    refuse: (key, endpoint, options) => void refusals.set(`${key} ${endpoint}`, { ...options }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The documented data of an account that is prepared except for its leverage. */
function dataOf(asked: VenueRequest, endpoint: string, leverage: string): unknown {
  const { data } = documentedAnswer('Bitget', asked) as { data: object };
  if (endpoint === 'detail') return { ...data, leverage };
  if (endpoint === 'ticker' && Array.isArray(data))
    return data.map((one) => ({ ...one, ts: String(Date.now()) }));
  if (endpoint !== 'account') return data;
  const levers = { isolatedLongLever: leverage, isolatedShortLever: leverage };
  return { ...data, ...levers, marginMode: 'isolated', posMode: 'one_way_mode' };
}
