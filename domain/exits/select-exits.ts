import { check, type EligibilityCheck, type EligibilityDecision } from '../eligibility/eligibility.ts';
import { sameProcessor } from '../eligibility/processor.ts';
import type { TradingSettings } from '../user-settings.ts';
import type { Exit, Side } from './signal-action.ts';

/** Whether a signal that leaves concerns only positions of its own strategy, or those of all. */
export const EXIT_SCOPES = ['strategy', 'any'] as const;
export type ExitScope = (typeof EXIT_SCOPES)[number];

/** A position that this program opened and that may be open, or an entry of ours that may still fill. */
export interface OwnPosition {
  tradeId: string;
  side: Side;
  /** The strategy whose signal opened it. */
  processor: string;
  /** When that signal was received. */
  signalAt: Date;
}

export interface ExitUser {
  id: string;
  username: string;
  isActive: boolean;
  isTestUser: boolean;
  settings: Pick<TradingSettings, 'activeTrading' | 'tradeOrderSet'> | null;
  /** In the signal's token. */
  positions: readonly OwnPosition[];
}

export interface ExitInput {
  signal: {
    token: string;
    processor: string;
    receivedAt: Date;
    ownerUserId: string;
    /** Everyone for a signal from an administrator's key, otherwise its owner only. */
    audience: 'everyone' | 'owner';
    exit: Exit;
  };
  scope: ExitScope;
}

interface Finding {
  saw: string;
  wanted: string;
  /** Why the user is left out; null when this rule lets the user pass. */
  reason: string | null;
}

/** The layers of the eligibility in which a rule excludes a user from a signal that leaves. */
interface ExitRule {
  layer: 1 | 2;
  name: string;
  check: (user: ExitUser, input: ExitInput) => Finding;
}

/**
 * In the order of evaluation. Neither a pause, a halt, a stop, a limit nor switched off trading keeps a position open:
 * leaving only reduces risk.
 */
export const EXIT_RULES: readonly ExitRule[] = [
  { layer: 1, name: 'Signal audience', check: audience },
  { layer: 2, name: 'Open position', check: openPosition },
  { layer: 2, name: 'Side of the position', check: sideOfPosition },
  { layer: 2, name: 'Strategy of the position', check: strategyOfPosition },
  { layer: 2, name: 'Position before the signal', check: positionBefore },
];

/** Whether a newer signal that closes ends an entry that is still under way: what it opened would be closed. */
export const endsEntry = (
  { signal: { audience, ownerUserId, ...signal }, scope }: ExitInput,
  entry: { userId: string; side: Side; processor: string },
): boolean =>
  signal.exit.percent === '100' &&
  (audience === 'everyone' || ownerUserId === entry.userId) &&
  (signal.exit.side ?? entry.side) === entry.side &&
  (scope === 'any' || sameProcessor(entry.processor, signal.processor));

const TO_CLOSE = 'Position to close';

/** The positions of the user that the signal means. */
export const positionsToLeave = (user: Pick<ExitUser, 'positions'>, input: ExitInput): OwnPosition[] =>
  user.positions.filter((one) => isOnSide(one, input) && isOfStrategy(one, input) && isBefore(one, input));

/** Whether a signal that leaves concerns the user, and why or why not. */
export function judgeExit(user: ExitUser, input: ExitInput): EligibilityDecision {
  const who = { userId: user.id, username: user.username, isTestUser: user.isTestUser };
  for (const { layer, name: rule, check } of EXIT_RULES) {
    const { saw, wanted, reason } = check(user, input);
    if (reason !== null) return { ...who, status: 'not eligible', layer, rule, saw, wanted, reason };
  }
  const [position] = positionsToLeave(user, input);
  const held = `Holds a ${position?.side} position in ${input.signal.token} of ${position?.processor}`;
  return {
    ...who,
    status: 'eligible',
    layer: null,
    rule: TO_CLOSE,
    saw: 'an open position',
    wanted: 'an open position',
    reason: `${held}${whyNotTrading(user)}`,
  };
}

/** One user's decision with every rule in order: up to the first that excludes, the rest not reached. */
export function explainExit(
  user: ExitUser,
  input: ExitInput,
): { decision: EligibilityDecision; checks: EligibilityCheck[] } {
  const decision = judgeExit(user, input);
  const deciding = EXIT_RULES.findIndex(({ name }) => name === decision.rule);
  return {
    decision,
    checks: EXIT_RULES.map((rule, index) => {
      if (deciding !== -1 && index > deciding) return check(rule, 'not reached');
      return check(rule, index === deciding ? 'failed' : 'passed', rule.check(user, input));
    }),
  };
}

/** Users in the order of trading: by trade order set, then by name. */
export function selectExits<User extends ExitUser>(
  users: readonly User[],
  input: ExitInput,
): { decisions: EligibilityDecision[]; eligible: User[] } {
  const judged = users
    .map((user) => ({ user, key: orderOf(user), decision: judgeExit(user, input) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    decisions: judged.map(({ decision }) => decision),
    eligible: judged.flatMap(({ user, decision }) => (decision.status === 'eligible' ? [user] : [])),
  };
}

const orderOf = ({ settings, username, id }: ExitUser) =>
  `${(settings?.tradeOrderSet ?? 'Z').toUpperCase()} ${username.toLowerCase()} ${id}`;

function whyNotTrading({ isActive, settings }: ExitUser): string {
  if (!isActive) return '; the user is inactive, which keeps no position open';
  if (settings?.activeTrading !== true) return '; active trading is off, which keeps no position open';
  return '';
}

function audience(user: ExitUser, { signal }: ExitInput): Finding {
  const isForAll = signal.audience === 'everyone';
  return {
    saw: isForAll ? 'a signal for everyone' : 'a signal only for its owner',
    wanted: 'a signal for this user',
    reason: isForAll || signal.ownerUserId === user.id ? null : 'Signal belongs to another user',
  };
}

function openPosition({ positions }: ExitUser, { signal: { token } }: ExitInput): Finding {
  return {
    saw: positions.length === 0 ? 'none' : 'open',
    wanted: `a position in ${token} that was opened here`,
    reason: positions.length === 0 ? `No position in ${token} that was opened here is open` : null,
  };
}

const isOnSide = ({ side }: OwnPosition, { signal: { exit } }: ExitInput) =>
  exit.side === null || exit.side === side;

function sideOfPosition({ positions }: ExitUser, input: ExitInput): Finding {
  const { token, exit } = input.signal;
  const sides = [...new Set(positions.map(({ side }) => side))].join(', ');
  const fits = positions.some((one) => isOnSide(one, input));
  return {
    saw: sides,
    wanted: exit.side ?? 'either side',
    reason: fits ? null : `The position in ${token} is ${sides}, the signal closes ${exit.side} ones`,
  };
}

const isOfStrategy = ({ processor }: OwnPosition, { signal, scope }: ExitInput) =>
  scope === 'any' || sameProcessor(processor, signal.processor);

function strategyOfPosition({ positions }: ExitUser, input: ExitInput): Finding {
  const { signal, scope } = input;
  const onSide = positions.filter((one) => isOnSide(one, input));
  const processors = [...new Set(onSide.map(({ processor }) => processor))].join(', ');
  const fits = onSide.some((one) => isOfStrategy(one, input));
  return {
    saw: processors,
    wanted: scope === 'any' ? 'any strategy' : signal.processor,
    reason: fits
      ? null
      : `The position in ${signal.token} was opened by ${processors}, the signal is of ${signal.processor}`,
  };
}

const isBefore = ({ signalAt }: OwnPosition, { signal }: ExitInput) =>
  signalAt.getTime() < signal.receivedAt.getTime();

function positionBefore({ positions }: ExitUser, input: ExitInput): Finding {
  const { token, receivedAt } = input.signal;
  const fitting = positions.filter((one) => isOnSide(one, input) && isOfStrategy(one, input));
  const opened = fitting.map(({ signalAt }) => signalAt.toISOString()).join(', ');
  return {
    saw: `opened by a signal of ${opened}`,
    wanted: `a signal before ${receivedAt.toISOString()}`,
    reason: fitting.some((one) => isBefore(one, input))
      ? null
      : `The position in ${token} was opened by a newer signal`,
  };
}
