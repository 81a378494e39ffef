import { z } from 'zod';
import { type ExitPlan, exitPlanProblems } from '#domain/exits/exit-plan.ts';
import { processorText } from './risk-limits.ts';
import { limitedText } from './text.ts';

/*
 * GET, PUT and DELETE /api/exit-plans/strategies/:processor and /api/exit-plans/users/:id (the user's wins), and POST
 * /api/exit-plans/apply. A PUT replaces the whole plan. Multiples and percentages of prices are decimal strings.
 * GET /api/exit-plans/calculations/:id tells what the plan would do with the order of a calculation.
 */

function number(name: string) {
  const error = `${name} must be a number as text, such as "1.5"`;
  return z.string(error).max(30, { error, abort: true });
}

const trail = z.union(
  [
    z.strictObject({ atrMultiple: number('atrMultiple') }),
    z.strictObject({ percent: number('trail.percent') }),
  ],
  'trail must be {"atrMultiple": "2"} or {"percent": "1.5"}',
);

const WHOLE_MINUTES = 'maxHoldingMinutes must be a whole number of minutes';

export const exitPlanBody = z
  .strictObject({
    takeProfits: z
      .array(
        z.strictObject({
          atR: number('atR'),
          percent: z.number('percent must be a whole number from 1 to 100'),
        }),
        'takeProfits must be a list of {"atR": "1", "percent": 50}',
      )
      .max(100, 'takeProfits has too many parts')
      .default([]),
    breakEvenAtR: number('breakEvenAtR').optional(),
    trail: trail.optional(),
    maxHoldingMinutes: z.number(WHOLE_MINUTES).optional(),
  })
  .superRefine((plan, context) => {
    for (const { field, message } of exitPlanProblems(plan)) {
      const path = field.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
      context.addIssue({ code: 'custom', message, path });
    }
  });
export type ExitPlanBody = z.infer<typeof exitPlanBody>;

/** The body and the stored plan are one shape. */
export const toExitPlan = (body: ExitPlanBody): ExitPlan => body;

const exitPlan = z.object({
  takeProfits: z.array(z.object({ atR: z.string(), percent: z.number() })),
  breakEvenAtR: z.string().optional(),
  trail: z.union([z.object({ atrMultiple: z.string() }), z.object({ percent: z.string() })]).optional(),
  maxHoldingMinutes: z.number().optional(),
});

export const exitPlanAnswer = z.object({
  scope: z.object({ kind: z.enum(['strategy', 'user']), value: z.string(), title: z.string() }),
  /** Null: the scope has none. A plan without any step is one: it keeps a user out of the strategy's plan. */
  plan: exitPlan.nullable(),
});
export type ExitPlanAnswer = z.infer<typeof exitPlanAnswer>;

/** Of one position. Prices in USDT, quantities in units of the token. */
export const plannedExits = z.object({
  risk: z.string(),
  parts: z.array(z.object({ atR: z.string(), percent: z.number(), price: z.string(), quantity: z.string() })),
  /** What the target or the stop closes. */
  rest: z.string(),
  breakEven: z.object({ atPrice: z.string(), stopLoss: z.string() }).nullable(),
  trail: z.union([z.object({ distance: z.string() }), z.object({ percent: z.string() })]).nullable(),
  maxHoldingMinutes: z.number().nullable(),
  /** What of the plan is done otherwise or cannot be done: clauses without a full stop. */
  notes: z.array(z.string()),
});
export type PlannedExitsView = z.infer<typeof plannedExits>;

function aboveZero(name: string) {
  const isAboveZero = (text: string) => /^\d{1,12}(\.\d{1,12})?$/.test(text) && /[1-9]/.test(text);
  const message = `${name} must be a number above 0`;
  return limitedText(25, message).refine(isAboveZero, message);
}

/** Those of the prepared order, where they are not those of the calculation. */
export const calculationExitsQuery = z.object({
  entryPrice: aboveZero('entryPrice').optional(),
  quantity: aboveZero('quantity').optional(),
});

export const calculationExitsAnswer = z.object({
  /** Whose plan the order would follow; null when there is none, or one without any step. */
  scope: exitPlanAnswer.shape.scope.nullable(),
  /** For the whole order, filled at its entry price; null without a plan. */
  exits: plannedExits.nullable(),
});
export type CalculationExitsAnswer = z.infer<typeof calculationExitsAnswer>;

export const applyExitPlanBody = z.strictObject({
  scope: z.discriminatedUnion(
    'kind',
    [
      z.strictObject({ kind: z.literal('strategy'), value: processorText }),
      z.strictObject({ kind: z.literal('user'), value: z.uuid('scope.value must be the id of a user') }),
    ],
    'scope must be a strategy or a user',
  ),
  /** Answers what would be applied, and changes nothing. */
  preview: z.boolean('preview must be true or false').default(false),
});

export const applyExitPlanAnswer = z.object({
  preview: z.boolean(),
  /** How many open positions follow the plan, or would, and how many do not. */
  applied: z.number(),
  skipped: z.number(),
  positions: z.array(
    z.object({
      tradeId: z.string(),
      userId: z.string(),
      username: z.string(),
      exchangePlatform: z.string(),
      token: z.string(),
      side: z.enum(['long', 'short']),
      entryPrice: z.string(),
      /** Null for a position that is left as it is. */
      exits: plannedExits.nullable(),
      /** Why a position is left as it is: a clause without a full stop. */
      skipped: z.string().nullable(),
    }),
  ),
});
export type ApplyExitPlanAnswer = z.infer<typeof applyExitPlanAnswer>;
