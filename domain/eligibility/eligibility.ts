import { DEFAULT_USER_SETTINGS } from '../user-settings.ts';
import {
  ELIGIBILITY_RULES,
  type EligibilityInput,
  type EligibilityRule,
  type EligibilityUser,
} from './eligibility-rules.ts';

export interface EligibilityDecision {
  userId: string;
  username: string;
  isTestUser: boolean;
  status: 'eligible' | 'not eligible';
  /** The layer that excluded the user; null when eligible. */
  layer: number | null;
  rule: string;
  saw: string;
  wanted: string;
  reason: string;
}

export interface EligibleUser {
  id: string;
  username: string;
  isTestUser: boolean;
  tradeOrderSet: string;
}

export interface EligibilityResult {
  currentMode: 'sandbox' | 'live';
  processor: string;
  layers: [EligibilityLayer, EligibilityLayer, EligibilityLayer, EligibilityLayer];
  eligible: EligibleUser[];
  decisions: EligibilityDecision[];
}

export interface EligibilityLayer {
  name: string;
  count: number;
}

const LAYER_NAMES = [
  'Active users with settings',
  'Processor, active trading, pause, sizing method and environment compatibility',
  'Environment mode and final 5-criteria check',
  'Final eligible users',
] as const;

/**
 * Decides who trades a signal: four layers, exactly one decision with its reason per user. Returns users by trade order
 * set A to Z, then by username.
 */
export function evaluateEligibility(input: EligibilityInput): EligibilityResult {
  const judged = [...input.users].sort(byTradeOrder).map((user) => ({ user, ...judgeUser(user, input) }));
  const countPast = (layer: number) =>
    judged.filter(({ decision }) => decision.layer === null || decision.layer > layer).length;
  const eligible = judged
    .filter(({ decision }) => decision.status === 'eligible')
    .map(({ user }) => ({
      id: user.id,
      username: user.username,
      isTestUser: user.isTestUser,
      tradeOrderSet: tradeOrderOf(user),
    }));
  return {
    currentMode: input.mode,
    processor: input.signal.processor,
    layers: [
      { name: LAYER_NAMES[0], count: countPast(1) },
      { name: LAYER_NAMES[1], count: countPast(2) },
      { name: LAYER_NAMES[2], count: countPast(3) },
      { name: LAYER_NAMES[3], count: eligible.length },
    ],
    eligible,
    decisions: judged.map(({ decision }) => decision),
  };
}

/** One user's decision, and what each rule that passed before it saw and wanted. */
export function judgeUser(
  user: EligibilityUser,
  input: EligibilityInput,
): { decision: EligibilityDecision; passed: { saw: string; wanted: string }[] } {
  const who = { userId: user.id, username: user.username, isTestUser: user.isTestUser };
  const passed: { saw: string; wanted: string }[] = [];
  for (const { layer, name, check } of ELIGIBILITY_RULES) {
    const { saw, wanted, denial } = check(user, input);
    if (denial !== null) {
      const { reason } = denial;
      return {
        decision: { ...who, status: 'not eligible', layer, rule: name, saw, wanted, reason },
        passed,
      };
    }
    passed.push({ saw, wanted });
  }
  const decision: EligibilityDecision = {
    ...who,
    status: 'eligible',
    layer: null,
    rule: LAYER_NAMES[3],
    saw: 'every criterion met',
    wanted: 'every criterion met',
    reason: 'All eligibility criteria met',
  };
  return { decision, passed };
}

function byTradeOrder(a: EligibilityUser, b: EligibilityUser): number {
  return (
    compareText(tradeOrderOf(a), tradeOrderOf(b)) ||
    compareText(a.username.toLowerCase(), b.username.toLowerCase()) ||
    compareText(a.id, b.id)
  );
}

function tradeOrderOf(user: EligibilityUser): string {
  return (user.settings?.tradeOrderSet ?? DEFAULT_USER_SETTINGS.tradeOrderSet).toUpperCase();
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** One rule's result for one user; `saw` and `wanted` are null when unknown. */
export interface EligibilityCheck {
  layer: EligibilityRule['layer'];
  rule: string;
  result: 'passed' | 'failed' | 'not reached';
  saw: string | null;
  wanted: string | null;
}

/** One user's decision with every rule in order: up to the first that failed, the rest not reached. */
export function explainEligibility(
  user: EligibilityUser,
  input: EligibilityInput,
): { decision: EligibilityDecision; checks: EligibilityCheck[] } {
  const { decision, passed } = judgeUser(user, input);
  const deciding = decision.layer === null ? null : { saw: decision.saw, wanted: decision.wanted };
  return {
    decision,
    checks: ELIGIBILITY_RULES.map((rule, index) => {
      const values = passed[index];
      if (values !== undefined) return check(rule, 'passed', values);
      return index === passed.length && deciding !== null
        ? check(rule, 'failed', deciding)
        : check(rule, 'not reached');
    }),
  };
}

/** Rebuilds the rules from a recorded decision: a record keeps only the values of its deciding rule. */
export function recallChecks(
  recorded: Pick<EligibilityDecision, 'layer' | 'rule' | 'saw' | 'wanted'>,
  rules: readonly Pick<EligibilityRule, 'layer' | 'name'>[],
): EligibilityCheck[] {
  if (recorded.layer === null) return rules.map((rule) => check(rule, 'passed'));
  const deciding = rules.findIndex(({ name }) => name === recorded.rule);
  if (deciding === -1) {
    const layer = recorded.layer as EligibilityRule['layer'];
    return [check({ layer, name: recorded.rule }, 'failed', recorded)];
  }
  return rules.map((rule, index) => {
    if (index === deciding) return check(rule, 'failed', recorded);
    return check(rule, index < deciding ? 'passed' : 'not reached');
  });
}

export const check = (
  { layer, name }: Pick<EligibilityRule, 'layer' | 'name'>,
  result: EligibilityCheck['result'],
  values?: { saw: string; wanted: string },
): EligibilityCheck => ({
  layer,
  rule: name,
  result,
  saw: values?.saw ?? null,
  wanted: values?.wanted ?? null,
});
