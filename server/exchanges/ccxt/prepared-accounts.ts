import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { batched } from '../batched.ts';
import type { ExchangeAccount } from '../exchange.ts';

/*
 * One-way mode, isolated margin and leverage are set and read back once, then relied on for a while (I5). Remembered in
 * the database: another instance may set another leverage a moment later, and the memory of this instance would not
 * know.
 * 1. Forgotten before anything is changed at the exchange, remembered after it was read back.
 * 2. Forgotten on any sign of a change: a refusal, a refused key, an order or position that shows other settings.
 *    Another key may belong to another account whose settings are unknown, and so may the same key after its account
 *    became one of another kind.
 */

const REMEMBERED_MINUTES = 15;
/** Stands in the column of the token for what belongs to the whole account. */
const WHOLE_ACCOUNT = '';
/** Matches no leverage that is ever set. */
const NO_LEVERAGE = 0;
const MOST_CONFIRMED = 10_000;

/** The settings with which an order or a position was opened; null where not reported. */
export interface ShownPreparation {
  leverage: number | null;
  isIsolated: boolean | null;
}

export interface Remembered {
  /** The leverage that was last set for the token, however long ago; null if none ever was with this key. */
  leverage: number | null;
  /** Set recently enough to rely on. */
  isFresh: boolean;
  /** The margin mode of the whole account was recently read as isolated. */
  isAccountIsolated: boolean;
}

export interface PreparationMemory {
  recall(account: ExchangeAccount, token: string): Promise<Remembered>;
  remember(account: ExchangeAccount, token: string, leverage: number): Promise<void>;
  /** Remembers the margin mode where it belongs to the whole account. */
  rememberIsolated(account: ExchangeAccount): Promise<void>;
  /** Null forgets all tokens of the user. */
  forget(userId: string, token: string | null): Promise<void>;
  /** Forgets the preparation if an order or a position shows other settings. Never fails. */
  compare(account: ExchangeAccount, token: string, shown: ShownPreparation): Promise<void>;
}

interface Row {
  userId: string;
  token: string;
  leverage: number;
  keyHash: string;
}

export function createPreparationMemory(options: {
  platform: ExchangePlatform;
  pool: Pick<pg.Pool, 'query'>;
}): PreparationMemory {
  const { platform, pool } = options;
  /** Leverages that this instance has seen in place: an order that shows the same needs no statement. */
  const confirmed = new LRUCache<string, number>({ max: MOST_CONFIRMED });

  const read = batched(async (asked: Pick<Row, 'userId' | 'token'>[]) => {
    const { rows } = await pool.query<Row & { isFresh: boolean }>({
      name: 'recall-preparations',
      text: `select user_id as "userId", token, leverage, key_hash as "keyHash",
          prepared_at > database_time() - make_interval(mins => $4) as "isFresh"
        from exchange_preparations
        where platform = $1 and user_id = any($2) and token = any($3)`,
      values: [
        platform,
        [...new Set(asked.map(({ userId }) => userId))],
        [...new Set([WHOLE_ACCOUNT, ...asked.map(({ token }) => token)])],
        REMEMBERED_MINUTES,
      ],
    });
    const byUser = Map.groupBy(rows, ({ userId }) => userId);
    return asked.map(({ userId }) => byUser.get(userId) ?? []);
  });

  const write = batched(async (rows: Row[]): Promise<undefined[]> => {
    // A statement must not touch a row twice.
    const newest = [...new Map(rows.map((row) => [`${row.userId} ${row.token}`, row])).values()];
    await pool.query({
      name: 'remember-preparations',
      text: `insert into exchange_preparations (platform, user_id, token, leverage, key_hash)
        select $1, * from unnest($2::text[], $3::text[], $4::integer[], $5::text[])
        on conflict (platform, user_id, token)
        do update set leverage = excluded.leverage, key_hash = excluded.key_hash, prepared_at = database_time()`,
      values: [
        platform,
        newest.map(({ userId }) => userId),
        newest.map(({ token }) => token),
        newest.map(({ leverage }) => leverage),
        newest.map(({ keyHash }) => keyHash),
      ],
    });
    return rows.map(() => undefined);
  });

  /** Keeps rows with leverage `unlessLeverage`. */
  async function remove(userId: string, token: string | null, unlessLeverage: number | null): Promise<void> {
    if (token === null) confirmed.clear();
    else confirmed.delete(`${userId} ${token}`);
    await pool.query(
      `delete from exchange_preparations
       where platform = $1 and user_id = $2 and ($3::text is null or token = $3)
         and ($4::numeric is null or leverage <> $4)`,
      [platform, userId, token, unlessLeverage],
    );
  }

  return {
    async recall(account, token) {
      const rows = await read({ userId: account.userId, token });
      const own = rows.filter(({ keyHash }) => keyHash === keyHashOf(account));
      const ofToken = own.find((row) => row.token === token);
      return {
        leverage: ofToken?.leverage ?? null,
        isFresh: ofToken?.isFresh ?? false,
        isAccountIsolated: own.some((row) => row.token === WHOLE_ACCOUNT && row.isFresh),
      };
    },
    async remember(account, token, leverage) {
      const { userId } = account;
      await write({ userId, token, leverage, keyHash: keyHashOf(account) });
      confirmed.set(`${userId} ${token}`, leverage);
    },
    async rememberIsolated(account) {
      const { userId } = account;
      await write({ userId, token: WHOLE_ACCOUNT, leverage: NO_LEVERAGE, keyHash: keyHashOf(account) });
    },
    forget: (userId, token) => remove(userId, token, null),
    async compare({ userId }, token, { leverage, isIsolated }) {
      // A sign of a change arrives with an answer, which must not get lost if the database fails.
      const ignore = () => undefined;
      if (isIsolated === false) await remove(userId, token, null).catch(ignore);
      else if (leverage !== null && confirmed.get(`${userId} ${token}`) !== leverage) {
        await remove(userId, token, leverage).catch(ignore);
      }
    },
  };
}

const keyHashOf = ({ credentials }: ExchangeAccount): string =>
  createHash('sha256').update(`${credentials.accountMode} ${credentials.apiKey}`).digest('hex').slice(0, 16);
