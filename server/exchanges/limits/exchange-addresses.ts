import { and, gte, like, sql } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { exchangeSlots } from '#server/platform/db/schema.ts';
import { addressIn } from '../ccxt/transport-egress.ts';

/** The key under which all requests to an exchange through one egress are counted. */
export const addressKey = (platform: string, egressName: string): string =>
  `${platform} through ${egressName}`;

/** An instance asks every exchange more often. */
const SILENT_MS = 600_000;

/**
 * The operator's names of the addresses from which any instance called the exchange in the last ten minutes, sorted;
 * proxies and addresses without a name are left out.
 */
export async function listCallingAddresses(db: Queryable, platform: ExchangePlatform): Promise<string[]> {
  const prefix = addressKey(platform, '');
  const { key, nextAtMs } = exchangeSlots;
  const rows = await db
    .select({ key })
    .from(exchangeSlots)
    .where(
      and(
        like(key, `${prefix}%`),
        gte(nextAtMs, sql`extract(epoch from database_time()) * 1000 - ${SILENT_MS}::double precision`),
      ),
    );
  // The keys of an address's public endpoints begin with that of the address.
  const names = rows.map((row) => row.key.slice(prefix.length)).filter((name) => !name.includes(' '));
  return names.flatMap((name) => addressIn(name) ?? []).toSorted();
}
