import type { ExchangeCredentials } from '../../exchange.ts';
import type { Faults, StruckFaults } from '../faults.ts';
import { userIdOfPaperKey } from '../paper-credentials.ts';
import { jsonResponse, type PaperRequest, type PaperResponse, textResponse } from '../paper-http.ts';
import { type PaperContext, PaperRefusal } from '../paper-session.ts';
import { BITGET_PRIVATE, type PrivateCall } from './bitget-private.ts';
import { BITGET_PUBLIC } from './bitget-public.ts';
import { authenticateBitgetRequest } from './bitget-signature.ts';

export interface BitgetDialect {
  handle(request: PaperRequest): Promise<PaperResponse>;
}

/** Bitget's v2 REST dialect for USDT futures over the paper books: routes, signatures, envelope, codes and faults. */
export function createBitgetDialect(options: {
  context: PaperContext;
  faults: Faults;
  credentialsFor: (userId: string) => ExchangeCredentials;
  loseStopOf: PrivateCall['loseStopOf'];
  onError: (error: unknown) => void;
}): BitgetDialect {
  const { context, credentialsFor, loseStopOf, onError } = options;
  const envelope = (status: number, code: string, msg: string, data: unknown) =>
    jsonResponse(status, { code, msg, requestTime: context.clock.now().getTime(), data });
  const refusal = (code: string, message: string, status = statusOfCode(code)) =>
    envelope(status, code, message, null);

  async function answer(request: PaperRequest, faults: StruckFaults): Promise<PaperResponse> {
    const route = `${request.method} ${request.path}`;
    try {
      const publicHandler = BITGET_PUBLIC[route];
      if (publicHandler) return envelope(200, '00000', 'success', await publicHandler({ context, request }));
      const handler = BITGET_PRIVATE[route];
      if (!handler) return refusal('40404', 'Request URL NOT FOUND');
      const userId = authenticateBitgetRequest({ request, now: context.clock.now(), credentialsFor });
      const data = await handler({ context, request, userId, faults, loseStopOf });
      return envelope(200, '00000', 'success', data);
    } catch (error) {
      if (error instanceof PaperRefusal) return refusal(error.code, error.message);
      onError(error);
      return refusal('500', 'System busy', 500);
    }
  }

  return {
    async handle(request) {
      const userId = userIdOfPaperKey(request.headers['access-key'] ?? '');
      const faults = options.faults.strike({ path: request.path, userId });
      const early = await beforeProcessing(faults, refusal);
      return early ?? afterProcessing(faults, await answer(request, faults));
    },
  };
}

async function beforeProcessing(
  faults: StruckFaults,
  refusal: (code: string, message: string, status?: number) => PaperResponse,
): Promise<PaperResponse | null> {
  const delay = faults.find('delay');
  if (delay) await new Promise((resolve) => setTimeout(resolve, delay.delayMs));
  const refuse = faults.find('refuse');
  if (refuse) return refusal(refuse.code, refuse.message ?? 'Refused by a fault', refuse.status);
  if (faults.find('tooManyRequests')) return refusal('429', 'Too Many Requests', 429);
  const badGateway = faults.find('badGatewayBefore');
  if (badGateway) return textResponse(badGateway.status ?? 502, '<html>bad gateway</html>');
  if (faults.find('timeout')) return { ...textResponse(200, ''), delivery: 'never' };
  if (faults.find('cutBeforeAccept')) return { ...textResponse(200, ''), delivery: 'cut' };
  return null;
}

function afterProcessing(faults: StruckFaults, response: PaperResponse): PaperResponse {
  const badGateway = faults.find('badGatewayAfter');
  if (badGateway) return textResponse(badGateway.status ?? 502, '<html>bad gateway</html>');
  if (faults.find('acceptThenTimeout')) return { ...response, delivery: 'never' };
  if (faults.find('cutAfterAccept')) return { ...response, delivery: 'cut' };
  if (faults.find('stalledBody')) return { ...response, delivery: 'stalled' };
  if (faults.find('empty200')) return textResponse(200, '');
  if (faults.find('html200')) return textResponse(200, '<html>ok</html>');
  return response;
}

const HTTP_STATUS: Record<string, number> = { '40404': 404, '429': 429 };

const statusOfCode = (code: string) => HTTP_STATUS[code] ?? 400;
