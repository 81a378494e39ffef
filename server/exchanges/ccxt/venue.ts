/**
 * An exchange in this process, for tests: the real client is driven against it without a network. Every request is
 * built and signed as for the exchange itself.
 */
export interface Venue {
  handle(request: VenueRequest): Promise<VenueAnswer>;
}

/** Names the user whose own signals count for a public price, which only a venue knows about. */
export const VIEWER_HEADER = 'paper-viewer';

export interface VenueRequest {
  method: string;
  path: string;
  /** As it stands in the URL, without the question mark: signatures cover its exact order. */
  query: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

export interface VenueAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /**
   * How it reaches the client. 'never': silence; 'cut': the connection breaks; 'stalled': only the headers arrive;
   * 'truncated': `body` is all that arrives of a longer one (over a socket; in process it is the body).
   */
  delivery: 'whole' | 'never' | 'cut' | 'stalled' | 'truncated';
}
