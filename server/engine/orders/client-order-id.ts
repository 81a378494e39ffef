/**
 * The id to look an order up by: from the trade's id and the attempt, never used twice, 25 to 26 of `[0-9A-Za-z_-]`
 * (exchanges take 32 to 36). It does not prevent doubles: Bitget compares it with pending orders only
 * (docs/exchanges).
 */
export function clientOrderId(tradeId: string, attempt: number): string {
  return `${compact(tradeId)}-a${attempt}`;
}

export function closingOrderId(closeId: string): string {
  return `${compact(closeId)}-c`;
}

/** New for each try: what a try in doubt placed is seen by reading the protection back. */
export function protectionOrderId(tryId: string): string {
  return `${compact(tryId)}-p`;
}

const compact = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url');
