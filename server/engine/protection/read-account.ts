import type { OpenPositionView } from '#contract/positions.ts';
import { positionDifferences } from '#domain/orders/position-differences.ts';
import { plannedProtection } from '#domain/orders/protection.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { Deps, UserAccount } from '#server/deps.ts';
import { findOwnTrade } from '#server/engine/protection/find-own-trade.ts';
import { recordClosings } from '#server/engine/protection/record-closings.ts';
import type { CallPriority, Holding, UnreadablePosition } from '#server/exchanges/exchange.ts';
import { createGate } from '#server/exchanges/paper/gate.ts';
import { hasElapsed, isFresh } from '#server/platform/clock.ts';
import { eachAlone } from '#server/platform/each-alone.ts';
import { recordPositionFigures } from './account-figures.store.ts';
import { type AccountKey, forgetGone, type OpenTrade } from './positions.store.ts';
import { type AccountDeps, type HiddenPosition, readAccountTrades } from './trades-of-account.ts';

export type ReaderDeps = AccountDeps & Pick<Deps, 'clock' | 'log'>;

export type AccountReading =
  /** No credentials: nothing to read. */
  | { outcome: 'no-account'; hidden: HiddenPosition[] }
  | {
      outcome: 'read';
      account: UserAccount;
      open: Omit<OpenPositionView, 'username'>[];
      /** Positions we opened that this account cannot show. */
      hidden: HiddenPosition[];
      /** Positions that the account shows but nobody can read. */
      unreadable: UnreadablePosition[];
      /** Trades whose position may be one of the unreadable ones: neither safe nor closed. */
      doubtful: { trade: OpenTrade; problem: string }[];
    };

export interface AccountReader {
  /** What the account holds, at most `maxAgeMs` old; concurrent callers share one reading. */
  read(key: AccountKey, maxAgeMs: number): Promise<AccountReading>;
  /** Makes the next read a new one. */
  forget(key: AccountKey): void;
}

/** Accounts read at a time; each takes two requests, and exchanges count requests by address. */
const CONCURRENT_ACCOUNTS = 8;
/** A reading that misses a position says that it is gone only together with one this much earlier. */
const MISSED_AGAIN_MS = 1_000;
/** Ask the history less often after it has reported nothing for this long. */
const FRESHLY_GONE_MS = 60_000;

/**
 * Reads accounts at their exchanges, compares them with our records, and records positions that have ended. Readings
 * are shared and kept for a moment, so that polling screens do not load an exchange.
 */
export function createAccountReader(
  deps: ReaderDeps,
  { priority = 'look-up' }: { priority?: CallPriority } = {},
): AccountReader {
  const readings = new Map<string, { at: Date; reading: Promise<AccountReading>; isDone: boolean }>();
  const historyAskedAt = new Map<string, Date>();
  /** By account: trades whose position the last readings did not show, since when. */
  const missed = new Map<string, Map<string, Date>>();
  const gate = createGate(CONCURRENT_ACCOUNTS);
  const nameOf = ({ userId, exchangePlatform }: AccountKey) => `${userId} ${exchangePlatform}`;

  function mayAskHistory(key: AccountKey, gone: OpenTrade[]): boolean {
    const now = deps.clock.now();
    const isFreshlyGone = ({ goneSince }: OpenTrade) =>
      goneSince === null || !hasElapsed({ since: goneSince, ms: FRESHLY_GONE_MS, now });
    const askedAt = historyAskedAt.get(nameOf(key));
    const wasAsked = askedAt !== undefined && isFresh({ at: askedAt, maxAgeMs: FRESHLY_GONE_MS, now });
    if (wasAsked && !gone.some(isFreshlyGone)) return false;
    historyAskedAt.set(nameOf(key), now);
    return true;
  }

  /** Those that an earlier reading missed too. */
  function noteMissed(key: AccountKey, missing: OpenTrade[]): Set<string> {
    const now = deps.clock.now();
    const before = missed.get(nameOf(key));
    const since = new Map(missing.map(({ id }) => [id, before?.get(id) ?? now]));
    missed.set(nameOf(key), since);
    const again = [...since].filter(([, at]) => hasElapsed({ since: at, ms: MISSED_AGAIN_MS, now }));
    return new Set(again.map(([id]) => id));
  }

  async function readNow(key: AccountKey): Promise<AccountReading> {
    // Read the trades before the exchange: a position filled in between must not look gone.
    const { connected, here: trades, hidden } = await readAccountTrades(deps, key);
    if (connected === null) return { outcome: 'no-account', hidden };
    const { account, platform } = connected;
    const exchange = deps.exchanges.get(platform);
    const at = deps.clock.now();
    const { holdings, unreadable: unread } = await exchange.fetchHoldings(account, { priority });
    const unreadable = [...unread];
    const held: { holding: Holding; trade: OpenTrade | null }[] = [];
    await eachAlone(
      holdings,
      async (holding) => {
        const { position } = holding;
        const of = { userId: key.userId, exchange, account, candidates: trades, position };
        held.push({ holding, trade: await findOwnTrade(deps, of) });
      },
      (err, { position: { token } }) => {
        deps.log.error({ err, userId: key.userId, token }, 'the owner of a position could not be found out');
        unreadable.push({ symbol: token, token, problem: 'it is not known whether it was opened here' });
      },
    );
    const openIds = new Set(held.flatMap(({ trade }) => (trade === null ? [] : [trade.id])));
    const doubtful = trades
      .filter(({ id }) => !openIds.has(id))
      .flatMap((trade) => {
        const found = unreadable.find(({ token }) => token === null || token === trade.token);
        return found === undefined ? [] : [{ trade, problem: found.problem }];
      });
    const keptIds = new Set([...openIds, ...doubtful.map(({ trade }) => trade.id)]);
    const gone = trades.filter(({ id, state }) => state === 'done' && !keptIds.has(id));
    for (const { id, goneSince } of trades) {
      if (keptIds.has(id) && goneSince !== null) await forgetGone(deps.db, id);
    }
    // A position of the trade's side that is nobody's may be its own after all.
    const isContested = ({ token, side }: OpenTrade) =>
      held.some(
        ({ holding: { position }, trade }) =>
          trade === null && position.token === token && position.side === sideOpenedBy(side),
      );
    const missedAgain = noteMissed(
      key,
      gone.filter((trade) => !isContested(trade)),
    );
    if (gone.length > 0) {
      const askHistory = mayAskHistory(key, gone);
      await recordClosings(deps, { key, exchange, account, gone, missedAgain, askHistory });
    }
    const open = held.map(({ holding, trade }) => viewOf(key, holding, trade));
    const { exchangeMode } = deps.config;
    // The risk limits count a position that cannot be read as it was known last.
    if (unreadable.length === 0) await recordPositionFigures(deps.db, { ...key, open, exchangeMode, at });
    return { outcome: 'read', account, open, hidden, unreadable, doubtful };
  }

  return {
    read(key, maxAgeMs) {
      const known = readings.get(nameOf(key));
      const now = deps.clock.now();
      if (known && (!known.isDone || isFresh({ at: known.at, maxAgeMs, now }))) return known.reading;
      const entry = { at: now, reading: gate(() => readNow(key)), isDone: false };
      readings.set(nameOf(key), entry);
      entry.reading.then(
        () => {
          entry.isDone = true;
          entry.at = deps.clock.now();
        },
        () => {
          if (readings.get(nameOf(key)) === entry) readings.delete(nameOf(key));
        },
      );
      return entry.reading;
    },
    forget: (key) => void readings.delete(nameOf(key)),
  };
}

function viewOf(
  key: AccountKey,
  { position, protection }: Holding,
  trade: OpenTrade | null,
): Omit<OpenPositionView, 'username'> {
  const { marginMode: _marginMode, openedAt, ...figures } = position;
  return {
    ...key,
    ...figures,
    ...protection,
    openedAt: openedAt?.toISOString() ?? null,
    tradeId: trade?.id ?? null,
    processor: trade?.processor ?? null,
    signalId: trade?.signalId ?? null,
    timeframe: trade?.timeframe ?? null,
    differences: positionDifferences(
      { ...position, ...protection },
      trade === null ? null : { ...trade, ...plannedProtection(trade), isDone: trade.state === 'done' },
    ),
  };
}
