import { createHash } from 'node:crypto';
import stringify from 'safe-stable-stringify';
import type { EligibilityDecision } from '#domain/eligibility/eligibility.ts';
import type { EligibilityUser } from '#domain/eligibility/eligibility-rules.ts';
import type { ExitInput, ExitUser } from '#domain/exits/select-exits.ts';
import type { TradingHalt } from '#domain/orders/trading-halt.ts';
import type { TradingStop } from '#domain/orders/trading-stop.ts';
import * as constants from '#domain/sizing/trading-constants.ts';
import type { TradingSettings } from '#domain/user-settings.ts';
import type { SelectionSeen, SizingOutcome, SizingSeen } from '#domain/workflow/decision.ts';
import type { SecretBox } from '#server/platform/secret-box.ts';
import manifest from '../../../package.json' with { type: 'json' };

/** What the selection of users saw of one user, and what was decided. */
interface SelectionRecord {
  programVersion: string;
  /** The hash of the trading constants. */
  constants: string;
  signal: SelectionSeen['signal'];
  mode: SelectionSeen['mode'];
  supportedExchanges: readonly string[];
  selectedAt: Date;
  user: Omit<EligibilityUser, 'settings' | 'tradingHalt' | 'tradingStop'>;
  settings: TradingSettings | null;
  halt: TradingHalt | null;
  /** Missing in records of versions without stops. */
  stop?: TradingStop | null;
  eligibility: EligibilityDecision;
}

/** What the sizing of the user's position saw, and its result. Prices and money in USDT. */
interface SizingRecord {
  order: SizingSeen['signal'];
  profile: SizingSeen['profile'];
  /** The settings that were read for the sizing: they may have changed since the selection. */
  sizedWith: TradingSettings;
  timeliness: SizingSeen['timeliness'];
  alreadyTraded: boolean;
  /** Missing in records of versions without stops. */
  tradingStop?: TradingStop | null;
  /** Missing in records of versions without a canary. */
  canaryFailed?: string | null;
  accountDenial: SizingSeen['accountDenial'];
  blocker: string | null;
  candle: ({ id: string } & SizingSeen['priceLog']) | null;
  ticker: string | null;
  /** Missing in records of versions that did not keep it. */
  tickerProblem?: string | null;
  /** How old the price was when the position was computed; absent in older records. */
  tickerAgeMs?: number | null;
  contractRules: unknown;
  contractProblem: string | null;
  balance: string | null;
  balanceNote: string | null;
  accountProblem: string | null;
  marketRead: boolean;
  refusedAtCommit: string | null;
  /** Missing in records of versions without risk limits. */
  fitTo?: SizingSeen['fitTo'];
  outcome: SizingOutcome;
}

/** What the selection of a signal that leaves saw of one user, and what was decided. */
interface ExitRecord {
  programVersion: string;
  constants: string;
  exit: ExitInput;
  holder: ExitUser;
  eligibility: EligibilityDecision;
}

/** As it comes from the database: instants are texts. */
export type StoredRecord = Readonly<Record<string, unknown>>;

const hash = createHash('sha256').update(stringify(constants)).digest('hex');

/** Of the trading constants that decisions are made with now. */
export const constantsHash = (): string => hash;

export function selectionRecord(
  { user, ...input }: SelectionSeen,
  eligibility: EligibilityDecision,
): SelectionRecord {
  const { settings, tradingHalt, tradingStop, ...about } = user;
  const { signal, mode, supportedExchanges, now } = input;
  return {
    programVersion: manifest.version,
    constants: constantsHash(),
    signal,
    mode,
    supportedExchanges,
    selectedAt: now,
    user: about,
    settings,
    halt: tradingHalt,
    stop: tradingStop,
    eligibility,
  };
}

export const exitRecord = (
  { user: holder, ...exit }: ExitInput & { user: ExitUser },
  eligibility: EligibilityDecision,
): ExitRecord => ({
  programVersion: manifest.version,
  constants: constantsHash(),
  exit,
  holder,
  eligibility,
});

export function sizingRecord(
  { signal, settings, market, candleId, priceLog, ...seen }: SizingSeen,
  outcome: SizingOutcome,
): SizingRecord {
  return {
    ...seen,
    order: signal,
    sizedWith: settings,
    candle: priceLog === null || candleId === null ? null : { id: candleId, ...priceLog },
    ticker: market?.livePrice ?? null,
    tickerProblem: market?.priceProblem ?? null,
    tickerAgeMs: market?.priceAgeMs ?? null,
    contractRules: market?.rules ?? null,
    contractProblem: market?.rulesProblem ?? null,
    marketRead: market !== null,
    outcome,
  };
}

const instant = (text: unknown) => new Date(String(text));

function storedSettings<Stored extends TradingSettings | null>(stored: Stored): Stored {
  if (stored === null) return stored;
  const { tradingPausedUntil: until } = stored;
  return { ...stored, tradingPausedUntil: until === null ? null : instant(until) };
}

/** What the selection saw, from its record. */
export function recallSelection(stored: StoredRecord): SelectionSeen {
  const { signal, mode, supportedExchanges, selectedAt, user, settings, halt, stop } =
    stored as unknown as SelectionRecord;
  return {
    signal,
    mode,
    supportedExchanges,
    now: instant(selectedAt),
    user: {
      ...user,
      settings: storedSettings(settings),
      tradingHalt: halt === null ? null : { ...halt, since: instant(halt.since) },
      tradingStop: stop ?? null,
    },
  };
}

/** What the selection of a signal that leaves saw, from its record; null for a signal that enters. */
export function recallExit(stored: StoredRecord): { user: ExitUser; input: ExitInput } | null {
  if (stored.exit === undefined) return null;
  const { exit, holder } = stored as unknown as ExitRecord;
  const { signal } = exit;
  return {
    user: {
      ...holder,
      positions: holder.positions.map((one) => ({ ...one, signalAt: instant(one.signalAt) })),
    },
    input: { ...exit, signal: { ...signal, receivedAt: instant(signal.receivedAt) } },
  };
}

/** What the sizing saw, from its record; null when the user's position was not sized. */
export function recallSizing(stored: StoredRecord): SizingSeen | null {
  if (stored.outcome === undefined) return null;
  const { order, sizedWith, timeliness, candle, ticker, ...record } = stored as unknown as SizingRecord;
  return {
    signal: order,
    profile: record.profile,
    alreadyTraded: record.alreadyTraded,
    tradingStop: record.tradingStop ?? null,
    canaryFailed: record.canaryFailed ?? null,
    accountDenial: record.accountDenial,
    blocker: record.blocker,
    balance: record.balance,
    balanceNote: record.balanceNote,
    accountProblem: record.accountProblem,
    refusedAtCommit: record.refusedAtCommit,
    fitTo: record.fitTo ?? null,
    settings: storedSettings(sizedWith),
    timeliness: {
      ...timeliness,
      receivedAt: instant(timeliness.receivedAt),
      startsAt: instant(timeliness.startsAt),
    },
    candleId: candle?.id ?? null,
    priceLog: candle,
    market: record.marketRead
      ? {
          livePrice: ticker,
          priceProblem: record.tickerProblem ?? null,
          rules: record.contractRules as NonNullable<SizingSeen['market']>['rules'],
          rulesProblem: record.contractProblem,
        }
      : null,
  };
}

/** A keyed hash of each field: one that is changed in the database no longer fits its seal. */
export function sealFields(
  secretBox: Pick<SecretBox, 'lookupHash'>,
  owner: { workflowId: string; userId: string },
  record: object,
): Record<string, string> {
  return mapFields(owner, record, (text) => secretBox.lookupHash(text, 'decision').toString('base64url'));
}

/** The seals that each field may have: two while SECRET_KEY is rotated. */
export function knownSeals(
  secretBox: Pick<SecretBox, 'lookupHashes'>,
  owner: { workflowId: string; userId: string },
  record: object,
): Record<string, string[]> {
  return mapFields(owner, record, (text) =>
    secretBox.lookupHashes(text, 'decision').map((hash) => hash.toString('base64url')),
  );
}

function mapFields<Result>(
  owner: { workflowId: string; userId: string },
  record: object,
  map: (text: string) => Result,
): Record<string, Result> {
  // As the database will return it.
  const stored = JSON.parse(JSON.stringify(record)) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(stored).map(([field, value]) => [
      field,
      map(stringify([owner.workflowId, owner.userId, field, value])),
    ]),
  );
}
