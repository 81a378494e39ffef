import type { Webhook } from '#contract/hooks.ts';
import type { Deps } from '#server/deps.ts';
import { isUniqueViolation } from '#server/platform/db/database-errors.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { createHookKey, maskHookKey, openHookKey } from './hook-keys.ts';
import { type HookRow, insertHook, listHooks, updateHook } from './hooks.store.ts';

type HookDeps = Pick<Deps, 'clock' | 'db' | 'secretBox'>;

/** Creates the user's only hook; the database refuses a second, concurrent one. Returns the unmasked key, only this once. */
export async function createHook(
  deps: HookDeps,
  request: { userId: string; name: string },
): Promise<Webhook> {
  const id = timeOrderedId();
  const now = deps.clock.now();
  const { key, ...stored } = createHookKey(deps.secretBox, { id, userId: request.userId });
  const hook = {
    ...request,
    id,
    ...stored,
    createdAt: now,
    updatedAt: now,
    lastUsedAt: null,
    suspendedAt: null,
  };
  try {
    await insertHook(deps.db, hook);
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('webhookExists', { cause: error });
    throw error;
  }
  return toWebhook(hook, { key, masked: false });
}

/** The old key stops working with the commit. Returns the unmasked new key, only this once. */
export async function renewHook(
  deps: HookDeps,
  request: { id: string; userId: string; name?: string | undefined },
): Promise<Webhook> {
  const { id, userId, name } = request;
  const { key, ...stored } = createHookKey(deps.secretBox, { id, userId });
  const changes = { ...stored, ...(name === undefined ? {} : { name }) };
  const hook = await updateHook(deps.db, { id, userId, changes, now: deps.clock.now() });
  if (hook === null) throw new AppError('webhookNotFound');
  return toWebhook(hook, { key, masked: false });
}

/** The user's hooks. Keys are masked unless the session has recently confirmed the password. */
export async function showHooks(
  deps: HookDeps & Pick<Deps, 'log'>,
  request: { userId: string; keyRevealedUntil: Date | null },
): Promise<Webhook[]> {
  const { userId, keyRevealedUntil } = request;
  const masked = keyRevealedUntil === null || keyRevealedUntil <= deps.clock.now();
  const found = await listHooks(deps.db, userId);
  return found.map((hook) => {
    const key = openHookKey(deps.secretBox, hook);
    if (key === null) {
      deps.log.error(
        { userId, webhookId: hook.id },
        'a webhook key does not open: SECRET_KEY has changed or the row was moved; its deliveries are refused until it is renewed',
      );
    }
    return toWebhook(hook, { key, masked });
  });
}

function toWebhook(hook: HookRow, shown: { key: string | null; masked: boolean }): Webhook {
  const masked = shown.masked || shown.key === null;
  const key = shown.key ?? '';
  return {
    id: hook.id,
    name: hook.name,
    hookKey: masked ? maskHookKey(key) : key,
    masked,
    unreadable: shown.key === null,
    createdAt: hook.createdAt.toISOString(),
    lastUsedAt: hook.lastUsedAt?.toISOString() ?? null,
    suspendedAt: hook.suspendedAt?.toISOString() ?? null,
  };
}
