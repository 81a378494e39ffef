/**
 * No usable answer came. `phase` says whether the exchange may have seen the request. 'not-sent' (we refused it),
 * 'limited' (a request limit held it back for too long) and 'connect' (no connection): certainly not. 'sent': it may
 * have been executed.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly phase: 'not-sent' | 'limited' | 'connect' | 'sent';
  /** When a retry may help; null if unknown. */
  readonly retryAfterMs: number | null;
  /** An answer came, but none that is read. */
  readonly isUnreadable: boolean;
  constructor(
    phase: TransportError['phase'],
    message: string,
    options: { cause?: unknown; retryAfterMs?: number; isUnreadable?: boolean } = {},
  ) {
    super(message, { cause: options.cause });
    this.phase = phase;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.isUnreadable = options.isUnreadable ?? false;
  }
}

/** All of these are raised before the first byte of the request can leave, proxies included. */
const CONNECT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
]);

export function transportErrorOf(error: unknown, timeoutMs: number): TransportError {
  if (error instanceof TransportError) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (isTimeout(error)) {
    return new TransportError('sent', `no answer within ${timeoutMs} ms`, { cause: error });
  }
  const proxyRefused = code === 'UND_ERR_ABORTED' && message.startsWith('Proxy response');
  const phase = CONNECT_CODES.has(code) || proxyRefused ? 'connect' : 'sent';
  return new TransportError(phase, message || code, { cause: error });
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : '';
}

const isTimeout = (error: unknown) => error instanceof Error && error.name === 'TimeoutError';
