import { TOKEN_MAX_LENGTH } from './sizing/trading-constants.ts';

/** The tokens with their own badge colours. */
export const KNOWN_TOKENS = [
  'BTC',
  'ETH',
  'SOL',
  'SUI',
  'TON',
  'ADA',
  'XRP',
  'DOGE',
  'MATIC',
  'AVAX',
  'DOT',
  'LINK',
  'UNI',
  'LTC',
  'ATOM',
  'NEAR',
  'FTM',
  'ALGO',
] as const;

export const DEFAULT_CURRENCY = 'USDT';

/** Longest first, so that BTCBUSD is not read as BTCB in USD. */
const QUOTE_CURRENCIES = ['USDT', 'USDC', 'BUSD', 'USD'] as const;
const CONTRACT_WORDS = ['PERP', 'SWAP'];
/** Tokens whose pair with USD reads like a shorter token's pair with BUSD. */
const TOKENS_ENDING_IN_B = new Set(['BNB', 'SHIB', 'ARB', 'TRB', 'CKB']);

const RAW_SYMBOL = /^(?:[A-Za-z0-9_]{1,30}:)?([A-Za-z0-9/_-]{1,40})(?:\.[Pp])?$/;
const TOKEN = new RegExp(`^[A-Z0-9]{1,${TOKEN_MAX_LENGTH}}$`);

export type NormalisedSymbol = { ok: true; token: string; currency: string } | { ok: false; reason: string };

/**
 * The token and currency of a chart symbol: `BITGET:BTCUSDT.P`, `BTC/USDT`, `BTC-PERP` and `btc` are all BTC. Removes at
 * most one quote currency, and never the whole symbol, so USDCUSDT is USDC and PERP is PERP.
 */
export function normaliseSymbol(raw: string): NormalisedSymbol {
  const core = RAW_SYMBOL.exec(raw.trim())?.[1]?.toUpperCase();
  if (core === undefined) return unusable();
  const parts = core.split(/[/_-]/);
  while (parts.length > 1 && CONTRACT_WORDS.includes(parts.at(-1) ?? '')) parts.pop();
  const [first = '', second, ...rest] = parts;
  if (rest.length > 0) return unusable();
  if (second !== undefined) {
    return isQuoteCurrency(second) && TOKEN.test(first)
      ? { ok: true, token: first, currency: second }
      : unusable();
  }
  return splitJoined(first);
}

function splitJoined(joined: string): NormalisedSymbol {
  const text = joined.length > 4 && joined.endsWith('PERP') ? joined.slice(0, -4) : joined;
  const currency = isQuoteCurrency(text) ? undefined : QUOTE_CURRENCIES.find((quote) => endsIn(text, quote));
  const token = currency === undefined ? text : text.slice(0, -currency.length);
  return TOKEN.test(token) ? { ok: true, token, currency: currency ?? DEFAULT_CURRENCY } : unusable();
}

function endsIn(text: string, quote: string): boolean {
  if (!text.endsWith(quote) || text.length === quote.length) return false;
  return quote !== 'BUSD' || !TOKENS_ENDING_IN_B.has(text.slice(0, -3).replace(/^10+/, ''));
}

function isQuoteCurrency(text: string): boolean {
  return (QUOTE_CURRENCIES as readonly string[]).includes(text);
}

function unusable(): NormalisedSymbol {
  return {
    ok: false,
    reason: `must be a token of 1 to ${TOKEN_MAX_LENGTH} letters A-Z and digits, with or without its exchange and quote currency`,
  };
}
