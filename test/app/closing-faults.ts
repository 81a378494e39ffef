/** What an order that closes can meet; what becomes of each of them: close-open-position.test.ts. */
export const CLOSING_FAULTS = [
  'acceptThenTimeout',
  'cutAfterAccept',
  'badGatewayAfter',
  'empty200',
  'cutBeforeAccept',
  'badGatewayBefore',
  'tooManyRequests',
] as const;

/** One of each kind: an answer that is lost, and a request that is lost. */
export const isLost = (kind: (typeof CLOSING_FAULTS)[number]): boolean => kind.startsWith('cut');
