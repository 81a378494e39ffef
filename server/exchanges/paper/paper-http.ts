/** Names the user whose own signals count for a public price, which only the paper exchange knows about. */
export const VIEWER_HEADER = 'paper-viewer';

/** One request to the paper exchange, whether it came over a socket or not. */
export interface PaperRequest {
  method: string;
  path: string;
  /** As it stands in the URL, without the question mark: signatures cover its exact order. */
  query: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

export interface PaperResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
  /**
   * How it reaches the client; faults change it. 'never': silence; 'cut': the connection breaks; 'stalled': only the
   * headers arrive; 'truncated': `body` is all that arrives of a longer one (over a socket; in process it is the body).
   */
  delivery: 'whole' | 'never' | 'cut' | 'stalled' | 'truncated';
}

export function jsonResponse(status: number, value: unknown): PaperResponse {
  return {
    status,
    headers: { 'content-type': 'application/json;charset=UTF-8' },
    body: JSON.stringify(value),
    delivery: 'whole',
  };
}

export function textResponse(status: number, body: string): PaperResponse {
  return { status, headers: { 'content-type': 'text/html' }, body, delivery: 'whole' };
}

export const cutConnection = (): PaperResponse => ({ ...textResponse(200, ''), delivery: 'cut' });
