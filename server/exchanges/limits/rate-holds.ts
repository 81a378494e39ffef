/*
 * A hold stops requests after the exchange refused one: those of one account's endpoint, or all of an address.
 * 1. An expired hold is not over: one request leaves as a probe, the waiting one with the highest priority.
 * 2. A probe that is not refused ends the hold; a refused one doubles the next hold.
 * 3. A probe without an answer counts for PROBE_MS, then the next one leaves.
 * These functions decide for one instance without a database. take_exchange_turns and hold_exchange_key (migrations)
 * decide the same for all instances; rate-slots.test.ts runs over both.
 */

export interface Hold {
  heldUntilMs: number;
  /** 0: no hold. */
  holdMs: number;
  /** The exchange named the address. Otherwise the hold was inferred from refusals of several accounts. */
  isNamed: boolean;
  /** Deadline for the probe's answer; once it has passed, the time since which the next probe may leave. */
  probeUntilMs: number;
  /**
   * The account whose probe was refused. The refusal may concern only that account until another account is refused
   * too.
   */
  doubtedBy: string | null;
}

export const NO_HOLD: Readonly<Hold> = {
  heldUntilMs: 0,
  holdMs: 0,
  isNamed: false,
  probeUntilMs: 0,
  doubtedBy: null,
};

/** Durations of holds. A wait that the exchange asks for is always respected, up to `longestAskedMs`. */
export interface HoldTerms {
  firstMs: number;
  /** A hold that was too short is doubled, up to this. */
  longestMs: number;
  longestAskedMs: number;
}

/** The longest wait that an exchange can ask for. */
export const LONGEST_ASKED_MS = 600_000;

/**
 * Stays short even when repeated, unless the exchange asks for longer: the account's own stops wait for it, and a probe
 * costs only one request.
 */
export const ACCOUNT_HOLD: HoldTerms = {
  firstMs: 1_000,
  longestMs: 8_000,
  longestAskedMs: LONGEST_ASKED_MS,
};
export const NAMED_ADDRESS_HOLD: HoldTerms = {
  firstMs: 5_000,
  longestMs: 600_000,
  longestAskedMs: LONGEST_ASKED_MS,
};
/** Short at first: the inference may be wrong. */
export const INFERRED_ADDRESS_HOLD: HoldTerms = { ...NAMED_ADDRESS_HOLD, firstMs: 1_000 };

/** Each lower priority waits this much longer before it probes, so that a stop in another instance goes first. */
export const PROBE_STEP_MS = 100;
/** While a probe is in progress the others ask this often. */
export const PROBE_POLL_MS = 100;
export const PROBE_MS = 5_000;

/** How long a request of this rank (0 is the highest priority) waits for the hold; 0: it may leave. */
export function holdWaitMs(hold: Hold, { rank, atMs }: { rank: number; atMs: number }): number {
  if (atMs < hold.heldUntilMs) return hold.heldUntilMs + rank * PROBE_STEP_MS - atMs;
  if (hold.holdMs === 0) return 0;
  if (atMs < hold.probeUntilMs) return Math.min(hold.probeUntilMs - atMs, PROBE_POLL_MS);
  return Math.max(Math.max(hold.heldUntilMs, hold.probeUntilMs) + rank * PROBE_STEP_MS - atMs, 0);
}

/** How long an account whose probe was refused waits while others may probe. */
export function doubtWaitMs(hold: Hold, { account, atMs }: { account: string; atMs: number }): number {
  if (hold.holdMs === 0 || hold.doubtedBy !== account) return 0;
  return Math.max(hold.probeUntilMs + 2 * hold.holdMs - atMs, 0);
}

/** The hold after a request has left that may probe it. */
export function whenProbed(hold: Hold, atMs: number): Hold {
  if (hold.holdMs === 0 || atMs < hold.heldUntilMs || atMs < hold.probeUntilMs) return hold;
  return { ...hold, probeUntilMs: atMs + PROBE_MS };
}

export interface Refused {
  account: string;
  /** The refusal names its scope: an account's endpoint, or the address. False: the hold is inferred. */
  isNamed: boolean;
  /** The wait that the exchange asked for; null if not stated. */
  askedMs: number | null;
  terms: HoldTerms;
  /** `heldUntilMs` of the hold that the refused request probed; null if it was not a probe. */
  probeOf: number | null;
}

/**
 * The hold after a refusal. Answers to requests that left before the hold change nothing, unless they ask for a longer
 * wait or name a scope that was only inferred.
 */
export function whenRefused(hold: Hold, refused: Refused, atMs: number): Hold {
  const { account, isNamed, askedMs, terms, probeOf } = refused;
  const askedForMs = Math.min(askedMs ?? 0, terms.longestAskedMs);
  const held = (ownMs: number): Hold => {
    const holdMs = Math.max(Math.min(ownMs, terms.longestMs), askedForMs);
    return { heldUntilMs: atMs + holdMs, holdMs, isNamed, probeUntilMs: 0, doubtedBy: null };
  };
  const isProbe = probeOf !== null && probeOf === hold.heldUntilMs;
  if (hold.holdMs === 0) return isNamed || probeOf === null ? held(terms.firstMs) : hold;
  if (isNamed && !hold.isNamed) return held(terms.firstMs);
  if (!isProbe) return atMs + askedForMs > hold.heldUntilMs && askedForMs > 0 ? held(askedForMs) : hold;
  if (isNamed) return held(2 * hold.holdMs);
  // The probe hit its own account's limit. The exchange, which named the address before, now lets the address through.
  if (hold.isNamed) return NO_HOLD;
  if (atMs < hold.heldUntilMs) return hold;
  // One account may be refused on its own: only a second one confirms that the address is limited.
  const isConfirmed = hold.doubtedBy !== null && hold.doubtedBy !== account;
  return isConfirmed ? held(2 * hold.holdMs) : { ...hold, doubtedBy: account, probeUntilMs: atMs };
}

/** The hold after a probe that was not refused. */
export const whenPassed = (hold: Hold, probeOf: number): Hold =>
  hold.heldUntilMs === probeOf ? NO_HOLD : hold;

/** The hold after a probe that was not sent or not answered. */
export const whenUnanswered = (hold: Hold, probeOf: number, atMs: number): Hold =>
  hold.heldUntilMs === probeOf && hold.probeUntilMs > atMs ? { ...hold, probeUntilMs: atMs } : hold;
/** Accounts refused within this time count together. */
const WINDOW_MS = 2_000;
const FEWEST_ACCOUNTS = 3;
const FEWEST_SHARE = 0.2;
/** Above this number, accounts that asked long ago are forgotten. */
const MOST_REMEMBERED = 2_000;

/** Accounts that recently sent requests through one address, and those among them that were refused. */
export type RefusalWatch = ReturnType<typeof watchRefusals>;

/**
 * Tells an address limit from account limits where the exchange does not: at least three accounts, and a fifth of those
 * that asked, are refused within two seconds. It counts accounts, not requests: one busy account is still one. Each
 * instance counts only its own requests: an address limit refuses all instances, so the busiest one notices it, and its
 * hold is shared.
 */
export function watchRefusals() {
  const asked = new Map<string, number>();
  const refused = new Map<string, number>();

  return {
    asked(account: string, atMs: number): void {
      asked.set(account, atMs);
      if (asked.size > MOST_REMEMBERED) forgetOld(asked, atMs);
    },
    /** Records the refusal; true if its accounts suggest that the address is limited. */
    isAddress(account: string, atMs: number): boolean {
      // An answer may arrive after the window has passed.
      asked.set(account, atMs);
      refused.set(account, atMs);
      forgetOld(asked, atMs);
      forgetOld(refused, atMs);
      const isAddress = refused.size >= FEWEST_ACCOUNTS && refused.size >= FEWEST_SHARE * asked.size;
      if (isAddress) refused.clear();
      return isAddress;
    },
  };
}

function forgetOld(times: Map<string, number>, nowMs: number): void {
  for (const [account, atMs] of times) if (nowMs - atMs > WINDOW_MS) times.delete(account);
}
