import type { ExchangeAnswer } from './call-scope.ts';
import { TransportError } from './transport-error.ts';

/**
 * An exchange in this process, for tests: the real client runs against it without a network. Every request is built and
 * signed as for the real exchange.
 */
export interface Venue {
  handle(request: VenueRequest): Promise<VenueAnswer>;
}

/** The user whose own signals count for a public price; only venues know this header. */
export const VIEWER_HEADER = 'paper-viewer';

export interface VenueRequest {
  method: string;
  path: string;
  /** The URL's query without the question mark: signatures cover its exact order. */
  query: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
  /** Where the request came from; absent in process. */
  address?: string | undefined;
}

export interface VenueAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /**
   * How the answer reaches the client. 'never': silence; 'cut': the connection breaks; 'stalled': only the headers
   * arrive; 'truncated': `body` is the first part of a longer answer (over a socket; in process it is the whole body).
   */
  delivery: 'whole' | 'never' | 'cut' | 'stalled' | 'truncated';
}

/** Answers a request of the transport as an exchange over the network would. */
export async function callVenue(
  venue: Venue,
  url: URL,
  request: { method: string; body?: string | undefined },
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<ExchangeAnswer> {
  const lowerCase = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const deadline = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  // The loser of the race below must not end as an unhandled rejection.
  deadline.catch(() => undefined);
  const handled = venue.handle({
    method: request.method,
    path: url.pathname,
    query: url.search.slice(1),
    headers: Object.fromEntries(lowerCase),
    body: request.body ?? '',
  });
  const answer = await Promise.race([handled, deadline]);
  // Nothing but the deadline can follow.
  if (answer.delivery === 'never' || answer.delivery === 'stalled') throw noAnswer();
  if (answer.delivery === 'cut') throw new TransportError('sent', 'other side closed');
  return answer;
}

const noAnswer = () => new DOMException('The exchange does not answer', 'TimeoutError');
