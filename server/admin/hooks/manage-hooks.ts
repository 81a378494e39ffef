import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Webhook } from '#contract/hooks.ts';
import type { Deps } from '#server/deps.ts';
import { isUniqueViolation } from '#server/platform/db/database-errors.ts';
import { hooks } from '#server/platform/db/schema.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { createHookKey, maskHookKey, openHookKey } from './hook-keys.ts';
import type { HookRow } from './hooks.store.ts';

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
    await deps.db.insert(hooks).values(hook);
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
  const [hook] = await deps.db
    .update(hooks)
    .set({ ...stored, ...(name === undefined ? {} : { name }), updatedAt: deps.clock.now() })
    .where(and(eq(hooks.id, id), eq(hooks.userId, userId)))
    .returning();
  return toWebhook(required(hook, 'webhookNotFound'), { key, masked: false });
}

/** Returns false if nothing was deleted. Owners cannot delete a suspended hook: they could just create another. */
export async function deleteHook(
  { db }: Pick<Deps, 'db'>,
  { id, evenSuspended }: { id: string; evenSuspended: boolean },
): Promise<boolean> {
  const which = and(eq(hooks.id, id), evenSuspended ? undefined : isNull(hooks.suspendedAt));
  const removed = await db.delete(hooks).where(which).returning({ id: hooks.id });
  return removed.length > 0;
}

/** A hook that is already suspended keeps its `suspendedAt`. */
export async function suspendHook(
  { db, clock }: Pick<Deps, 'clock' | 'db'>,
  { id, suspended }: { id: string; suspended: boolean },
): Promise<void> {
  const now = clock.now();
  const suspendedAt = suspended ? sql`coalesce(${hooks.suspendedAt}, ${now})` : null;
  await db.update(hooks).set({ suspendedAt, updatedAt: now }).where(eq(hooks.id, id));
}

/** The user's hook, if there is one. Keys are masked unless the session has recently confirmed the password. */
export async function showHooks(
  deps: HookDeps & Pick<Deps, 'log'>,
  request: { userId: string; keyRevealedUntil: Date | null },
): Promise<Webhook[]> {
  const { userId, keyRevealedUntil } = request;
  const masked = keyRevealedUntil === null || keyRevealedUntil <= deps.clock.now();
  const found = await deps.db.select().from(hooks).where(eq(hooks.userId, userId));
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
