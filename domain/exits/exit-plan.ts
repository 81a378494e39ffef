import { D, positiveOrNull } from '../decimal.ts';

/** What happens to a position after its entry. R is the distance from entry to stop at the entry, in USDT. */
export interface ExitPlan {
  /** Parts that are closed on the way to the target: at which multiple of R, and how many percent of the entry. */
  takeProfits: readonly { atR: string; percent: number }[];
  /** At which multiple of R the stop is moved to the entry; absent: never. */
  breakEvenAtR?: string | undefined;
  /** How far the stop follows the best price: in multiples of the entry's ATR, or in percent of the price. */
  trail?: { atrMultiple: string } | { percent: string } | undefined;
  /** After how many minutes the rest is closed; absent: never. */
  maxHoldingMinutes?: number | undefined;
}

export interface PlanProblem {
  /** The field as in the body, such as `takeProfits.0.atR`. */
  field: string;
  /** A sentence without a full stop. */
  message: string;
}

export const MOST_PARTS = 10;
const LARGEST_MULTIPLE = 100;
/** A year. */
export const LONGEST_HOLDING_MINUTES = 525_600;

/** Why a plan cannot be stored, whatever the position; empty when nothing speaks against it. Never throws. */
export function exitPlanProblems(plan: ExitPlan): PlanProblem[] {
  return [...partProblems(plan), ...stopProblems(plan), ...holdingProblems(plan)];
}

function partProblems({ takeProfits }: ExitPlan): PlanProblem[] {
  const problems: PlanProblem[] = [];
  if (takeProfits.length > MOST_PARTS) {
    problems.push({ field: 'takeProfits', message: `A plan has at most ${MOST_PARTS} parts` });
  }
  takeProfits.forEach(({ atR, percent }, index) => {
    const field = `takeProfits.${index}`;
    const multiple = multipleProblem(`${field}.atR`, atR);
    if (multiple !== null) problems.push(multiple);
    else if (takeProfits.slice(0, index).some((other) => isSameNumber(other.atR, atR))) {
      problems.push({ field: `${field}.atR`, message: `Another part is closed at ${atR} R already` });
    }
    if (!Number.isInteger(percent) || percent < 1 || percent > 100) {
      problems.push({
        field: `${field}.percent`,
        message: 'The percentage must be a whole number from 1 to 100',
      });
    }
  });
  const sum = takeProfits.reduce((total, { percent }) => total + percent, 0);
  if (sum > 100) {
    problems.push({
      field: 'takeProfits',
      message: `The parts are ${sum} % together, and a position has only 100 %`,
    });
  }
  return problems;
}

function stopProblems({ breakEvenAtR, trail }: ExitPlan): PlanProblem[] {
  const breakEven = breakEvenAtR === undefined ? null : multipleProblem('breakEvenAtR', breakEvenAtR);
  const problems = breakEven === null ? [] : [breakEven];
  if (trail === undefined) return problems;
  if ('atrMultiple' in trail) {
    const multiple = multipleProblem('trail.atrMultiple', trail.atrMultiple);
    return multiple === null ? problems : [...problems, multiple];
  }
  const percent = positiveOrNull(trail.percent);
  if (percent?.lt(100)) return problems;
  return [
    ...problems,
    { field: 'trail.percent', message: 'The percentage must be a number above 0 and below 100' },
  ];
}

function holdingProblems({ maxHoldingMinutes: minutes }: ExitPlan): PlanProblem[] {
  if (minutes === undefined) return [];
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= LONGEST_HOLDING_MINUTES) return [];
  const message = `The longest holding must be a whole number of minutes from 1 to ${LONGEST_HOLDING_MINUTES}`;
  return [{ field: 'maxHoldingMinutes', message }];
}

function multipleProblem(field: string, text: string): PlanProblem | null {
  const multiple = positiveOrNull(text);
  if (multiple?.lte(LARGEST_MULTIPLE)) return null;
  return { field, message: `The multiple must be a number above 0, at most ${LARGEST_MULTIPLE}` };
}

const isSameNumber = (one: string, other: string): boolean =>
  positiveOrNull(one) !== null && positiveOrNull(other) !== null && D(one).eq(other);

/** The parts that are at or beyond a target, which is `targetAtR` multiples of R away: the target comes first. */
export function partsBeyondTarget(
  { takeProfits }: Pick<ExitPlan, 'takeProfits'>,
  targetAtR: string,
): PlanProblem[] {
  return takeProfits.flatMap(({ atR }, index) =>
    D(atR).lt(targetAtR)
      ? []
      : [
          {
            field: `takeProfits.${index}.atR`,
            message: `The target lies ${targetAtR} R away: a part at ${atR} R would never be closed`,
          },
        ],
  );
}

/** Whether a plan does anything. One that does nothing keeps a user out of the strategy's plan. */
export const isEmptyPlan = (plan: ExitPlan): boolean =>
  plan.takeProfits.length === 0 &&
  plan.breakEvenAtR === undefined &&
  plan.trail === undefined &&
  plan.maxHoldingMinutes === undefined;
