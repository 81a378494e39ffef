import { LRUCache } from 'lru-cache';
import { hashHookKey } from '#server/admin/hooks/hook-keys.ts';
import type { SecretBox } from '#server/platform/secret-box.ts';

/** A webhook's key as deliveries bring it. */
export interface HookKey {
  /** What its webhook is looked up by. */
  hash: Buffer;
  /**
   * The webhook that it opened when it was looked up last. Whoever stores by it makes the database say in the same
   * statement that it still does.
   */
  hookId: string | null;
}

const MAX_REMEMBERED = 2_000;

/**
 * The keys that came last: the same few come with every delivery, and a keyed hash takes as long as reading the
 * delivery does. A key that opens nothing is remembered just as well.
 */
export function createKnownKeys(box: SecretBox): (key: string) => HookKey {
  const remembered = new LRUCache<string, HookKey>({
    max: MAX_REMEMBERED,
    memoMethod: (key) => ({ hash: hashHookKey(box, key), hookId: null }),
  });
  return (key) => remembered.memo(key);
}
