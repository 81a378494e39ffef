import { createHash } from 'node:crypto';
import type pg from 'pg';
import {
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type OpenPosition,
  type Placement,
} from '../exchange.ts';

/*
 * One-way mode, isolated margin and leverage are set and read back once, then relied on for a while (I5). Remembered in
 * the database: another instance may set another leverage a moment later, and the memory of this instance would not
 * know.
 * 1. Forgotten before anything is changed at the exchange, remembered after it was read back.
 * 2. Forgotten on any sign of a change: a refusal, a refused key, an order or position that shows other settings.
 *    Another key may belong to another account whose settings are unknown.
 */

const REMEMBERED_MINUTES = 15;

/** The settings with which an order or a position was opened; null where not reported. */
export interface ShownPreparation {
  leverage: number | null;
  isIsolated: boolean | null;
}

export interface PreparedAccounts {
  /** The exchange, which skips preparations that are still remembered. */
  exchange: Exchange;
  forgetUser(userId: string): Promise<void>;
}

export function rememberPreparations(options: {
  exchange: Exchange;
  pool: Pick<pg.Pool, 'query'>;
  /** Reads the settings from `OrderReport.raw`. */
  shownByOrder: (raw: unknown) => ShownPreparation | null;
}): PreparedAccounts {
  const { exchange, pool, shownByOrder } = options;
  const { platform } = exchange;

  /** Null matches any leverage. */
  async function isPrepared(
    account: ExchangeAccount,
    token: string,
    leverage: number | null,
  ): Promise<boolean> {
    const { rows } = await pool.query(
      `select 1 from exchange_preparations
       where platform = $1 and user_id = $2 and token = $3 and ($4::numeric is null or leverage = $4) and key_hash = $5
         and prepared_at > now() - make_interval(mins => $6)`,
      [platform, account.userId, token, leverage, keyHashOf(account), REMEMBERED_MINUTES],
    );
    return rows.length > 0;
  }

  async function remember(account: ExchangeAccount, token: string, leverage: number): Promise<void> {
    await pool.query(
      `insert into exchange_preparations (platform, user_id, token, leverage, key_hash) values ($1, $2, $3, $4, $5)
       on conflict (platform, user_id, token)
       do update set leverage = excluded.leverage, key_hash = excluded.key_hash, prepared_at = now()`,
      [platform, account.userId, token, leverage, keyHashOf(account)],
    );
  }

  /** Null forgets all tokens. Keeps rows with leverage `unlessLeverage`. */
  async function forget(
    userId: string,
    token: string | null,
    unlessLeverage: number | null = null,
  ): Promise<void> {
    await pool.query(
      `delete from exchange_preparations
       where platform = $1 and user_id = $2 and ($3::text is null or token = $3)
         and ($4::numeric is null or leverage <> $4)`,
      [platform, userId, token, unlessLeverage],
    );
  }

  /** A sign of a change arrives with an answer, which must not get lost if the database fails. */
  const forgetIfPossible = (...what: Parameters<typeof forget>) => forget(...what).catch(() => undefined);

  async function compare(account: ExchangeAccount, token: string, shown: ShownPreparation): Promise<void> {
    if (shown.isIsolated === false) await forgetIfPossible(account.userId, token);
    else if (shown.leverage !== null) await forgetIfPossible(account.userId, token, shown.leverage);
  }

  const comparePosition = (account: ExchangeAccount, { token, leverage, marginMode }: OpenPosition) =>
    compare(account, token, { leverage, isIsolated: marginMode === null ? null : marginMode === 'isolated' });

  async function forgetIfRefused(account: ExchangeAccount, token: string, placement: Placement) {
    if (placement.outcome === 'refused') await forgetIfPossible(account.userId, token);
    return placement;
  }

  return {
    exchange: {
      ...exchange,
      expectOrder(account, token) {
        const looking = isPrepared(account, token, null).then((is) => {
          if (!is) exchange.expectOrder(account, token);
        });
        looking.catch(() => {});
      },
      async prepareAccount(account, preparation, context) {
        const { token, leverage } = preparation;
        if (await isPrepared(account, token, leverage)) return;
        await forget(account.userId, token);
        await exchange.prepareAccount(account, preparation, context);
        await remember(account, token, leverage);
      },
      async placeOrder(account, order, context) {
        return forgetIfRefused(account, order.token, await exchange.placeOrder(account, order, context));
      },
      async closePosition(account, request, context) {
        return forgetIfRefused(
          account,
          request.token,
          await exchange.closePosition(account, request, context),
        );
      },
      async placeProtection(account, request, context) {
        try {
          await exchange.placeProtection(account, request, context);
        } catch (error) {
          if (error instanceof ExchangeError && error.kind === 'refused')
            await forgetIfPossible(account.userId, request.token);
          throw error;
        }
      },
      async findOrder(account, order, context) {
        const report = await exchange.findOrder(account, order, context);
        const shown = report && shownByOrder(report.raw);
        if (shown !== null) await compare(account, order.token, shown);
        return report;
      },
      async fetchPosition(account, token, context) {
        const position = await exchange.fetchPosition(account, token, context);
        if (position !== null) await comparePosition(account, position);
        return position;
      },
      async fetchHolding(account, token, context) {
        const holding = await exchange.fetchHolding(account, token, context);
        if (holding !== null) await comparePosition(account, holding.position);
        return holding;
      },
    },
    forgetUser: (userId) => forgetIfPossible(userId, null),
  };
}

const keyHashOf = ({ credentials }: ExchangeAccount): string =>
  createHash('sha256').update(credentials.apiKey).digest('hex').slice(0, 16);
