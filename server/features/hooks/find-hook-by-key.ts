import type { Deps } from '#server/deps.ts';
import { HOOK_KEY_SHAPE, hashHookKey } from './hook-keys.ts';
import { findHookByHash, type HookWithOwner } from './hooks.store.ts';

/**
 * The hook that a delivery's key opens, with what it takes to know whom its signals are for; null for an
 * unknown, renewed or deleted key. Looked up by its keyed hash, so no comparison depends on the key's letters.
 */
export async function findHookByKey(
  deps: Pick<Deps, 'db' | 'secretBox'>,
  key: string,
): Promise<HookWithOwner | null> {
  // A key of another shape is looked up as well: it must take as long as an unknown one.
  const looked = HOOK_KEY_SHAPE.test(key) ? key : '';
  return findHookByHash(deps.db, hashHookKey(deps.secretBox, looked));
}
