import { createHash } from 'node:crypto';
import stringify from 'safe-stable-stringify';
import type { EligibilityDecision } from '#domain/eligibility/eligibility.ts';
import type { EligibilityUser } from '#domain/eligibility/eligibility-rules.ts';
import type { TradingHalt } from '#domain/orders/trading-halt.ts';
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
  user: Omit<EligibilityUser, 'settings' | 'tradingHalt'>;
  settings: TradingSettings | null;
  halt: TradingHalt | null;
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
  accountDenial: SizingSeen['accountDenial'];
  blocker: string | null;
  candle: ({ id: string } & SizingSeen['priceLog']) | null;
  ticker: string | null;
  contractRules: unknown;
  contractProblem: string | null;
  balance: string | null;
  balanceNote: string | null;
  accountProblem: string | null;
  marketRead: boolean;
  refusedAtCommit: string | null;
  outcome: SizingOutcome;
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
  const { settings, tradingHalt, ...about } = user;
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
    eligibility,
  };
}

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
  const { signal, mode, supportedExchanges, selectedAt, user, settings, halt } =
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
    },
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
    accountDenial: record.accountDenial,
    blocker: record.blocker,
    balance: record.balance,
    balanceNote: record.balanceNote,
    accountProblem: record.accountProblem,
    refusedAtCommit: record.refusedAtCommit,
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
  // As the database will return it.
  const stored = JSON.parse(JSON.stringify(record)) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(stored).map(([field, value]) => {
      const sealed = [owner.workflowId, owner.userId, field, value];
      return [field, secretBox.lookupHash(stringify(sealed), 'decision').toString('base64url')];
    }),
  );
}
