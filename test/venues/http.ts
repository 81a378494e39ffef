import type { VenueAnswer } from '#server/exchanges/ccxt/venue.ts';

export { type VenueAnswer, type VenueRequest, VIEWER_HEADER } from '#server/exchanges/ccxt/venue.ts';

export function jsonAnswer(status: number, value: unknown): VenueAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json;charset=UTF-8' },
    body: JSON.stringify(value),
    delivery: 'whole',
  };
}

export function textAnswer(status: number, body: string): VenueAnswer {
  return { status, headers: { 'content-type': 'text/html' }, body, delivery: 'whole' };
}

export const withHeaders = (answer: VenueAnswer, headers: Record<string, string>): VenueAnswer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});

export const cutConnection = (): VenueAnswer => ({ ...textAnswer(200, ''), delivery: 'cut' });
