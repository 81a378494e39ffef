import type { bitget } from 'ccxt';

export type BitgetClass = typeof bitget;
export type BitgetClient = bitget;

/**
 * The one exchange class that is needed, loaded when it is first used: the whole library takes 0.8 s and 86 MB,
 * this 0.3 s and 32 MB. Its package exports the whole only, hence the address; the version is pinned exactly.
 */
export async function loadBitgetClass(): Promise<BitgetClass> {
  const address = new URL('./src/bitget.js', import.meta.resolve('ccxt'));
  const module = (await import(address.href)) as { default: BitgetClass };
  return module.default;
}
