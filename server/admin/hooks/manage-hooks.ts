import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Webhook } from '#contract/hooks.ts';
import type { Deps } from '#server/deps.ts';
import { aboutWebhook } from '#server/platform/audit/audit-subjects.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import { changedFields } from '#server/platform/audit/audit-values.ts';
import { isUniqueViolation } from '#server/platform/db/database-errors.ts';
import { hooks } from '#server/platform/db/schema.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { createHookKey, maskHookKey, openHookKey } from './hook-keys.ts';
import type { HookRow } from './hooks.store.ts';

type HookDeps = Pick<Deps, 'audit' | 'clock' | 'db' | 'secretBox'>;

/** Who changes a webhook, and the name of its owner. */
interface By {
  actor: AuditActor;
  owner: string;
}

/** Creates the user's only hook; the database refuses a second, concurrent one. Returns the unmasked key, only this once. */
export async function createHook(
  deps: HookDeps,
  { actor, owner, ...request }: { userId: string; name: string } & By,
): Promise<Webhook> {
  const id = timeOrderedId();
  const now = deps.clock.now();
  const times = { createdAt: now, updatedAt: now, lastUsedAt: null, suspendedAt: null };
  try {
    return await deps.db.transaction(async (tx) => {
      // Sealed inside: a rotation of SECRET_KEY waits for transactions that may have sealed under the former key.
      const { key, ...stored } = createHookKey(deps.secretBox, { id, userId: request.userId });
      const hook = { ...request, id, ...stored, ...times };
      await tx.insert(hooks).values(hook);
      await deps.audit.record(tx, {
        actor,
        action: 'webhook created',
        subject: aboutWebhook(hook, owner),
        after: { name: hook.name, hookKey: maskHookKey(key) },
      });
      return toWebhook(hook, { key, masked: false });
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('webhookExists', { cause: error });
    throw error;
  }
}

/** The old key stops working with the commit. Returns the unmasked new key, only this once. */
export async function renewHook(
  deps: HookDeps,
  request: { id: string; userId: string; name?: string | undefined } & By,
): Promise<Webhook> {
  const { id, userId, name, actor, owner } = request;
  const isIt = and(eq(hooks.id, id), eq(hooks.userId, userId));
  return deps.db.transaction(async (tx) => {
    const { key, ...stored } = createHookKey(deps.secretBox, { id, userId });
    const [former] = await tx.select().from(hooks).where(isIt).for('update');
    const [hook] = await tx
      .update(hooks)
      .set({ ...stored, ...(name === undefined ? {} : { name }), updatedAt: deps.clock.now() })
      .where(isIt)
      .returning();
    const renewed = required(hook, 'webhookNotFound');
    const formerKey = former === undefined ? null : openHookKey(deps.secretBox, former);
    await deps.audit.record(tx, {
      actor,
      action: 'webhook key renewed',
      subject: aboutWebhook(renewed, owner),
      ...changedFields(
        { name: former?.name, hookKey: maskHookKey(formerKey ?? '') },
        { name: renewed.name, hookKey: maskHookKey(key) },
      ),
    });
    return toWebhook(renewed, { key, masked: false });
  });
}

/** Returns false if nothing was deleted. Owners cannot delete a suspended hook: they could just create another. */
export async function deleteHook(
  { audit, db }: Pick<Deps, 'audit' | 'db'>,
  { id, evenSuspended, actor, owner }: { id: string; evenSuspended: boolean } & By,
): Promise<boolean> {
  const which = and(eq(hooks.id, id), evenSuspended ? undefined : isNull(hooks.suspendedAt));
  return db.transaction(async (tx) => {
    const [removed] = await tx.delete(hooks).where(which).returning({ id: hooks.id, name: hooks.name });
    if (removed === undefined) return false;
    const { name } = removed;
    await audit.record(tx, {
      actor,
      action: 'webhook deleted',
      subject: aboutWebhook(removed, owner),
      before: { name },
    });
    return true;
  });
}

/** A hook that is already suspended keeps its `suspendedAt`. */
export async function suspendHook(
  { audit, db, clock }: Pick<Deps, 'audit' | 'clock' | 'db'>,
  { id, suspended, actor, owner }: { id: string; suspended: boolean } & By,
): Promise<void> {
  const now = clock.now();
  const suspendedAt = suspended ? sql`coalesce(${hooks.suspendedAt}, ${now})` : null;
  await db.transaction(async (tx) => {
    const [hook] = await tx
      .update(hooks)
      .set({ suspendedAt, updatedAt: now })
      .where(eq(hooks.id, id))
      .returning({ id: hooks.id, name: hooks.name });
    if (hook === undefined) return;
    await audit.record(tx, {
      actor,
      action: suspended ? 'webhook suspended' : 'webhook suspension lifted',
      subject: aboutWebhook(hook, owner),
    });
  });
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
