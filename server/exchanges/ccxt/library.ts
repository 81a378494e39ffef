import type { bitget, bybit } from 'ccxt';

export type BitgetClass = typeof bitget;
export type BitgetClient = bitget;
export type BybitClass = typeof bybit;
export type BybitClient = bybit;

/**
 * The one exchange class that is needed, loaded when it is first used: the whole library takes 0.8 s and 86 MB,
 * one class 0.3 s and 32 MB. Its package exports the whole only, hence the address; the version is pinned exactly.
 */
async function loadClass<Class>(name: string): Promise<Class> {
  const address = new URL(`./src/${name}.js`, import.meta.resolve('ccxt'));
  const module = (await import(address.href)) as { default: Class };
  return module.default;
}

export const loadBitgetClass = () => loadClass<BitgetClass>('bitget');
export const loadBybitClass = () => loadClass<BybitClass>('bybit');
