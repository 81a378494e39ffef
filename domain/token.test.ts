import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KNOWN_TOKENS, normaliseSymbol } from './token.ts';

describe('normaliseSymbol', () => {
  // Requirements: webhook-deliveries-19
  it.each([
    [
      'BTC',
      'USDT',
      ['BTC', 'btcusdt', ' BTCUSDT ', 'BITGET:BTCUSDT.P', 'BYBIT:BTCUSDT.p', 'BTC/USDT', 'BTC-USDT'],
    ],
    ['BTC', 'USDT', ['BTC-USDT-SWAP', 'BTCPERP', 'BTC-PERP', 'BTCUSDTPERP']],
    ['BTC', 'USDC', ['BTC_USDC', 'BTCUSDC']],
    ['BTC', 'USD', ['BTCUSD', 'BTCUSD_PERP']],
    ['BTC', 'BUSD', ['BTCBUSD']],
    ['ETH', 'USD', ['COINBASE:ETHUSD']],
    ['1000PEPE', 'USDT', ['1000PEPEUSDT.P']],
    ['1INCH', 'USDT', ['1INCHUSDT']],
  ])('reads %s in %s from %j', (token, currency, symbols) => {
    for (const raw of symbols) expect(normaliseSymbol(raw), raw).toEqual({ ok: true, token, currency });
  });

  it.each([
    ['USDCUSDT', 'USDC', 'USDT'],
    ['BUSDUSDT', 'BUSD', 'USDT'],
    ['TUSDUSDT', 'TUSD', 'USDT'],
    ['PERPUSDT', 'PERP', 'USDT'],
    ['PERP', 'PERP', 'USDT'],
    ['USDT', 'USDT', 'USDT'],
    ['BUSD', 'BUSD', 'USDT'],
    ['USD', 'USD', 'USDT'],
    ['SUSDT', 'S', 'USDT'],
    ['BNBUSD', 'BNB', 'USD'],
    ['SHIBUSD', 'SHIB', 'USD'],
    ['1000SHIBUSD', '1000SHIB', 'USD'],
    ['BNBBUSD', 'BNB', 'BUSD'],
  ])('keeps the name of a token that looks like a currency: %s is %s in %s', (raw, token, currency) => {
    expect(normaliseSymbol(raw)).toEqual({ ok: true, token, currency });
  });

  it.each([
    ...['', ' ', ':', 'BITGET:', '/USDT', 'BTC/', 'BTC/EUR', 'BTC/USDT/X', 'BTC USDT', 'BTC.D', '../../x'],
    ...['%2e%2e', 'BTC?x=1', '@169.254.169.254', '{{ticker}}', 'ВТС', 'ıUSDT', 'A:B:BTC', '<b>'],
    ...['ABCDEFGHIJKLMNOPQRSTU', 'BTC\nUSDT', 'BTC\u0000'],
  ])('refuses %j', (raw) => {
    expect(normaliseSymbol(raw)).toMatchObject({ ok: false });
  });

  it('accepts only tokens of 1 to 20 capital letters and digits, for any symbol', () => {
    const symbolLike = fc.stringMatching(/^[A-Za-z0-9:./_-]{0,30}$/);
    const pieces = fc
      .array(fc.constantFrom('BTC', 'USD', 'USDT', 'BUSD', 'PERP', '.P', ':', '-', '/', 'B', '1'), {
        maxLength: 6,
      })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string(), symbolLike, pieces), (raw) => {
        const symbol = normaliseSymbol(raw);
        if (symbol.ok) expect(symbol.token).toMatch(/^[A-Z0-9]{1,20}$/);
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds every known token in its own pairs', () => {
    for (const token of KNOWN_TOKENS) {
      for (const raw of [token, `${token}USDT`, `${token}USD`, `BITGET:${token}USDT.P`, `${token}/USDC`]) {
        expect(normaliseSymbol(raw)).toMatchObject({ ok: true, token });
      }
    }
  });
});
