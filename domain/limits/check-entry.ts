import { D, type Decimal, toPlain } from '../decimal.ts';
import { type Denial, deny } from '../workflow/denials.ts';
import {
  hasStoppingLimit,
  limitInUsdt,
  type RiskLimits,
  type RiskScope,
  strategyKey,
} from './risk-limits.ts';
import { isWithinHours, nextOpening } from './trading-hours.ts';

/*
 * Whether an entry stays within the limits of the program, of its strategy and of its user. All of them must allow it,
 * so the tightest applies. What is not known of a user denies that user's entry, and counts for nobody else.
 */

/** A position of ours, or an entry that may still fill. Money in USDT, quantity in the token. */
export interface OpenEntry {
  userId: string;
  strategy: string;
  token: string;
  /** Held, or planned while the entry may still fill. */
  quantity: string;
  /** The last known mark price; the entry price before one is known. */
  price: string;
  stopLoss: string;
  side: 'buy' | 'sell';
}

export interface KnownEquity {
  userId: string;
  /** USDT. */
  equity: string;
  /** The strategy of the user's settings, or 'any'. */
  follows: string;
}

/** First attempts of the last minute. */
export interface EntryCount {
  userId: string;
  strategy: string;
  entries: number;
}

/** A limit that was reached, and stops entries while it lasts. */
export interface Breach {
  limit: string;
  saw: string;
  maximum: string;
  /** Null: until an administrator resets it. */
  until: Date | null;
}

/** When the limits that stop entries were last compared with what happened. */
export interface Watched {
  at: Date;
  /** What is not known of a user, by user id: a clause without a full stop. */
  unknown: Readonly<Record<string, string>>;
}

export interface ScopeLimits {
  scope: RiskScope;
  limits: RiskLimits;
  breaches: readonly Breach[];
  watched: Watched | null;
}

export interface EntryFigures {
  open: readonly OpenEntry[];
  equities: readonly KnownEquity[];
  counts: readonly EntryCount[];
}

export interface WantedEntry {
  userId: string;
  /** As the signal spells it. */
  processor: string;
  token: string;
  side: 'buy' | 'sell';
  quantity: string;
  entryPrice: string;
  stopLoss: string;
  /** Of the reading that the size follows from, in USDT; null when it was not read. */
  equity: string | null;
  /** A second attempt is counted already: only what stops entries holds it back. */
  isFirst: boolean;
}

/** How large an entry may be to fit. Amounts in USDT; null is no bound. */
export interface Room {
  notional: string | null;
  /** What the stop may lose. */
  loss: string | null;
  /** The limits that leave this: clauses without a full stop. */
  because: string[];
}

export type EntryVerdict =
  | { ok: true }
  /** Allowed if it is made smaller; `otherwise`: why not, if it cannot be. */
  | { ok: 'smaller'; room: Room; otherwise: Denial }
  | { ok: false; denial: Denial };

/** Without a comparison for this long, what stops entries is not known. */
export const WATCH_LASTS_MS = 60_000;

/** What a batch of entries is checked against; an entry that is allowed counts for the next ones. */
export function createEntryBook(options: {
  limits: readonly ScopeLimits[];
  figures: EntryFigures;
  now: Date;
}) {
  const { limits, now } = options;
  const open = [...options.figures.open];
  const counts = [...options.figures.counts];
  const figures: EntryFigures = { open, counts, equities: options.figures.equities };
  return {
    judge(entry: WantedEntry): EntryVerdict {
      // A user has one position in a token: one that is still on record was closed for this entry.
      const beside = open.filter(({ userId, token }) => userId !== entry.userId || token !== entry.token);
      const seen = { ...figures, open: beside };
      const rooms: { room: Room; denial: Denial }[] = [];
      const denials: Denial[] = [];
      for (const one of limits) {
        if (!concerns(one.scope, entry)) continue;
        const denial =
          denyStopped(one, entry, now) ??
          denyHours(one, entry, now) ??
          denyToken(one, entry) ??
          (entry.isFirst ? denyCount(one, entry, seen) : null);
        if (denial !== null) return { ok: false, denial };
        if (!entry.isFirst) continue;
        for (const sized of [judgeExposure(one, entry, seen), judgeRisk(one, entry, seen)]) {
          if (sized === null) continue;
          if (sized.room === null) denials.push(sized.denial);
          else rooms.push({ room: sized.room, denial: sized.denial });
        }
      }
      const [first] = rooms;
      const [denial] = denials;
      // Made smaller for one limit, it may fit another one that does not shrink: it is judged again.
      if (first === undefined) return denial === undefined ? { ok: true } : { ok: false, denial };
      return { ok: 'smaller', room: smallestRoom(rooms.map(({ room }) => room)), otherwise: first.denial };
    },
    add({ userId, processor, token, quantity, entryPrice: price, stopLoss, side }: WantedEntry): void {
      const strategy = strategyKey(processor);
      open.push({ userId, strategy, token, quantity, price, stopLoss, side });
      counts.push({ userId, strategy, entries: 1 });
    },
  };
}

interface OfScope {
  userId: string;
  strategy: string;
}

export const isOfScope = ({ kind, value }: RiskScope, one: OfScope): boolean =>
  kind === 'program' || value === (kind === 'strategy' ? one.strategy : one.userId);

const concerns = (scope: RiskScope, { userId, processor }: WantedEntry) =>
  isOfScope(scope, { userId, strategy: strategyKey(processor) });

/** A scope in a sentence. */
export function scopeName({ kind, value }: RiskScope, processor: string = value): string {
  if (kind === 'program') return 'the program';
  return kind === 'strategy' ? `strategy ${processor}` : 'this user';
}

const LIMIT_NAMES: Record<string, string> = {
  maxDailyLoss: 'daily loss',
  maxDrawdown: 'drawdown',
  maxLossesInARow: 'number of losses in a row',
};

/** Money in a sentence. */
export const inUsdt = (amount: Decimal): string => `${toPlain(amount.toDecimalPlaces(2))} USDT`;

function denyStopped(
  { scope, limits, breaches, watched }: ScopeLimits,
  entry: WantedEntry,
  now: Date,
): Denial | null {
  const name = scopeName(scope, entry.processor);
  const breach = breaches.find(({ until }) => until === null || until > now);
  if (breach !== undefined) {
    const { limit, saw, maximum, until } = breach;
    return deny('risk_limit_stopped', {
      limit: LIMIT_NAMES[limit] ?? limit,
      scope: name,
      saw,
      maximum,
      until: until === null ? 'an administrator resets it' : until.toISOString(),
    });
  }
  if (!hasStoppingLimit(limits)) return null;
  const unknown = whatIsUnknown({ scope, watched }, entry.userId, now);
  return unknown === null
    ? null
    : deny('risk_limit_unknown', { limit: stoppingNames(limits), scope: name, unknown });
}

function denyHours({ scope, limits }: ScopeLimits, { processor }: WantedEntry, now: Date): Denial | null {
  const { schedule } = limits;
  if (schedule === null || isWithinHours(schedule, now)) return null;
  return deny('outside_trading_hours', {
    scope: scopeName(scope, processor),
    opens: nextOpening(schedule, now)?.toISOString() ?? 'a change of them',
  });
}

function stoppingNames(limits: RiskLimits): string {
  const names = Object.entries(LIMIT_NAMES).filter(([field]) => limits[field as keyof RiskLimits] !== null);
  return names.map(([, name]) => name).join(' and ');
}

function whatIsUnknown(
  { scope, watched }: Pick<ScopeLimits, 'scope' | 'watched'>,
  userId: string,
  now: Date,
): string | null {
  const known = watched?.unknown[userId];
  if (known !== undefined) return known;
  // What the program or a strategy does not know of others stops nobody.
  if (scope.kind !== 'user') return null;
  if (watched === null) return 'it was not compared yet';
  const ageMs = now.getTime() - watched.at.getTime();
  return ageMs <= WATCH_LASTS_MS ? null : `it was last compared ${Math.round(ageMs / 1_000)} s ago`;
}

function denyToken({ scope, limits }: ScopeLimits, { token, processor }: WantedEntry): Denial | null {
  const { allowedTokens, blockedTokens } = limits;
  const name = scopeName(scope, processor);
  if (blockedTokens?.includes(token)) {
    return deny('risk_limit_token', { token, scope: name, rule: `blocked are ${blockedTokens.join(', ')}` });
  }
  if (allowedTokens === null || allowedTokens.includes(token)) return null;
  const rule = allowedTokens.length === 0 ? 'no token is allowed' : `allowed are ${allowedTokens.join(', ')}`;
  return deny('risk_limit_token', { token, scope: name, rule });
}

function denyCount(
  { scope, limits }: ScopeLimits,
  { processor }: WantedEntry,
  { open, counts }: EntryFigures,
): Denial | null {
  const { maxOpenPositions, maxEntriesPerMinute } = limits;
  const name = scopeName(scope, processor);
  const held = open.filter((one) => isOfScope(scope, one)).length;
  if (maxOpenPositions !== null && held + 1 > maxOpenPositions) {
    return deny('risk_limit_reached', {
      limit: 'number of open positions and working entries',
      scope: name,
      saw: String(held + 1),
      maximum: String(maxOpenPositions),
      allowed: held < maxOpenPositions ? String(maxOpenPositions - held) : 'none',
    });
  }
  const recent = counts.filter((one) => isOfScope(scope, one)).reduce((sum, { entries }) => sum + entries, 0);
  if (maxEntriesPerMinute !== null && recent + 1 > maxEntriesPerMinute) {
    return deny('risk_limit_reached', {
      limit: 'number of entries in the last minute',
      scope: name,
      saw: String(recent + 1),
      maximum: String(maxEntriesPerMinute),
      allowed: 'none before a minute has passed since the first of them',
    });
  }
  return null;
}

/** In USDT: what the entry would add, and what is taken already. */
interface Use {
  limit: string;
  /** As it is written. */
  text: string;
  taken: Decimal;
  wanted: Decimal;
  room: (left: string) => Pick<Room, 'notional' | 'loss'>;
}

export const exposureOf = ({ quantity, price }: Pick<OpenEntry, 'quantity' | 'price'>): Decimal =>
  D(quantity).times(price);

/** What the stop would lose; a stop beyond the price loses nothing. */
export function riskOf({
  quantity,
  price,
  stopLoss,
  side,
}: Pick<OpenEntry, 'quantity' | 'price' | 'stopLoss' | 'side'>): Decimal {
  const distance = D(price).minus(stopLoss);
  const lost = side === 'buy' ? distance : distance.negated();
  return lost.gt(0) ? lost.times(quantity) : D(0);
}

const sumOf = (amounts: Decimal[]): Decimal => amounts.reduce((sum, one) => sum.plus(one), D(0));

function judgeExposure(one: ScopeLimits, entry: WantedEntry, figures: EntryFigures) {
  const { maxExposure } = one.limits;
  if (maxExposure === null) return null;
  return judgeUse(one, entry, figures, {
    limit: 'exposure',
    text: maxExposure,
    taken: sumOf(figures.open.filter((held) => isOfScope(one.scope, held)).map(exposureOf)),
    wanted: exposureOf({ quantity: entry.quantity, price: entry.entryPrice }),
    room: (left) => ({ notional: left, loss: null }),
  });
}

function judgeRisk(one: ScopeLimits, entry: WantedEntry, figures: EntryFigures) {
  const { maxRisk } = one.limits;
  if (maxRisk === null) return null;
  return judgeUse(one, entry, figures, {
    limit: 'loss at all stops',
    text: maxRisk,
    taken: sumOf(figures.open.filter((held) => isOfScope(one.scope, held)).map(riskOf)),
    wanted: riskOf({ ...entry, price: entry.entryPrice }),
    room: (left) => ({ notional: null, loss: left }),
  });
}

/** Null when it fits; without room when it must be denied. */
function judgeUse(
  { scope, limits }: ScopeLimits,
  entry: WantedEntry,
  figures: EntryFigures,
  { limit, text, taken, wanted, room }: Use,
): { denial: Denial; room: Room | null } | null {
  const name = scopeName(scope, entry.processor);
  const equity = equityOf(scope, entry, figures);
  const maximum = limitInUsdt(text, equity);
  if (maximum === null) {
    const unknown = 'the equity of this user is not known';
    return { denial: deny('risk_limit_unknown', { limit, scope: name, unknown }), room: null };
  }
  if (taken.plus(wanted).lte(maximum)) return null;
  const left = maximum.gt(taken) ? maximum.minus(taken) : D(0);
  const shownMaximum = /[%x]$/.test(text) ? `${text} of ${inUsdt(equity ?? D(0))}` : `${text} USDT`;
  const denial = deny('risk_limit_reached', {
    limit,
    scope: name,
    saw: inUsdt(taken.plus(wanted)),
    maximum: shownMaximum,
    allowed: left.gt(0) ? `${inUsdt(left)} more` : 'none',
  });
  if (!limits.shrink || !left.gt(0)) return { denial, room: null };
  const because = `the ${limit} of ${name} leaves ${inUsdt(left)} of ${shownMaximum}`;
  return { denial, room: { ...room(toPlain(left)), because: [because] } };
}

/** Null when that of the entry's user is not known; those of others who are not known count nothing. */
function equityOf(scope: RiskScope, entry: WantedEntry, { equities }: EntryFigures): Decimal | null {
  const own = entry.equity ?? equities.find(({ userId }) => userId === entry.userId)?.equity ?? null;
  if (own === null) return null;
  const others = equities.filter(
    ({ userId, follows }) => userId !== entry.userId && countsFor(scope, { userId, follows }),
  );
  return sumOf([D(own), ...others.map(({ equity }) => D(equity))]);
}

/** Whether a user's equity is part of what a scope trades with. */
export const countsFor = (
  { kind, value }: RiskScope,
  { userId, follows }: Pick<KnownEquity, 'userId' | 'follows'>,
): boolean =>
  kind === 'program' || (kind === 'user' ? userId === value : follows === value || follows === 'any');

function smallestRoom(rooms: readonly Room[]): Room {
  const least = (amounts: (string | null)[]) =>
    amounts.reduce(
      (least, one) => (least === null || (one !== null && D(one).lt(least)) ? one : least),
      null,
    );
  return {
    notional: least(rooms.map(({ notional }) => notional)),
    loss: least(rooms.map(({ loss }) => loss)),
    because: rooms.flatMap(({ because }) => because),
  };
}
