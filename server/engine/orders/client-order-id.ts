/**
 * The id to look an order up by, built from the trade's id and the attempt number; never used twice. 25 to 26
 * characters of `[0-9A-Za-z_-]` (exchanges take 32 to 36). It does not prevent double orders: Bitget compares it with
 * pending orders only (docs/exchanges).
 */
export function clientOrderId(tradeId: string, attempt: number): string {
  return `${compact(tradeId)}-a${attempt}`;
}

export function closingOrderId(closeId: string): string {
  return `${compact(closeId)}-c`;
}

/** New for each try: reading the protection back shows what a try in doubt placed. */
export function protectionOrderId(tryId: string): string {
  return `${compact(tryId)}-p`;
}

const compact = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url');
