import type { Queryable } from '#server/platform/db/database.ts';
import { runNamed } from '#server/platform/db/drizzle-over.ts';

/**
 * The webhooks that the keys of a batch open at this moment: $1 are their ids, $2 the hashes of the keys. The statement
 * that stores checks key, webhook, owner and role itself: cached webhooks may be stale (docs/decisions/0003).
 */
export const WEBHOOKS_OF_KEYS = `
      select hooks.id as hook_id, hooks.user_id as owner_user_id, users.is_admin as from_admin
      from unnest($1::uuid[], $2::bytea[]) as given (hook_id, key_hash)
      join hooks on hooks.id = given.hook_id and hooks.key_hash = given.key_hash
      join users on users.id = hooks.user_id
      where users.is_active and hooks.suspended_at is null`;

/** An array for the database of what needs no quotes: ids, figures and instants. */
export const listOf = (values: (string | null)[]): string =>
  `{${values.map((value) => value ?? 'null').join(',')}}`;

/** Character 30, which JSON holds only escaped. In an array each of its many quotes would be escaped, and read back. */
const BETWEEN_JSON = '\x1e';

/** What a statement reads as `string_to_array(…, chr(30))::jsonb[]`. */
export const listOfJson = (values: unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join(BETWEEN_JSON);

/**
 * Runs a statement that stores a batch under these ids, and answers in `some` which of them, or null if it was all.
 * Answers each id that was stored in its place, and null in the others.
 */
export async function storeBatch(
  db: Queryable,
  statement: { name: string; text: string; ids: string[]; values: unknown[] },
): Promise<(string | null)[]> {
  const { name, text, ids, values } = statement;
  const { rows } = await runNamed<{ some: string[] | null }>(db, { name, text, values });
  const [row] = rows;
  if (row === undefined) throw new Error(`${name} ended without an answer`);
  if (row.some === null) return ids;
  const stored = new Set(row.some);
  return ids.map((id) => (stored.has(id) ? id : null));
}
