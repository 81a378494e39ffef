import { type EligibilityDecision, judgeUser } from './eligibility.ts';
import {
  ELIGIBILITY_RULES,
  type EligibilityInput,
  type EligibilityRule,
  type EligibilityUser,
} from './eligibility-rules.ts';

/** One rule as it was asked about one user; what it saw and wanted is null where that is not known. */
export interface EligibilityCheck {
  layer: EligibilityRule['layer'];
  rule: string;
  result: 'passed' | 'failed' | 'not reached';
  saw: string | null;
  wanted: string | null;
}

/** One user's decision with every rule in the order of asking: up to the first that failed, the rest not reached. */
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

/**
 * The rules as a recorded decision passed them. A record keeps what its deciding rule saw and wanted; the others'
 * values are null. A rule that is not asked any more stands alone.
 */
export function recallChecks(
  recorded: Pick<EligibilityDecision, 'layer' | 'rule' | 'saw' | 'wanted'>,
): EligibilityCheck[] {
  if (recorded.layer === null) return ELIGIBILITY_RULES.map((rule) => check(rule, 'passed'));
  const deciding = ELIGIBILITY_RULES.findIndex(({ name }) => name === recorded.rule);
  if (deciding === -1) {
    const layer = recorded.layer as EligibilityRule['layer'];
    return [check({ layer, name: recorded.rule }, 'failed', recorded)];
  }
  return ELIGIBILITY_RULES.map((rule, index) => {
    if (index === deciding) return check(rule, 'failed', recorded);
    return check(rule, index < deciding ? 'passed' : 'not reached');
  });
}

const check = (
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
