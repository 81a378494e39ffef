import { z } from 'zod';

export const ATTENTION_SEVERITIES = ['info', 'warning', 'critical'] as const;

/** Something that an operator should look at. It is derived from the present state and goes when its cause is gone. */
export const attentionCondition = z.object({
  /** One word for the kind of condition, such as `untrusted_proxy`. */
  code: z.string(),
  severity: z.enum(ATTENTION_SEVERITIES),
  /** When it began, as far as that is known. */
  since: z.string().nullable(),
  text: z.string(),
  /** Path of the screen where something can be done about it, and the label of the button that leads there. */
  link: z.string().nullable(),
  action: z.string().nullable(),
});
export type AttentionCondition = z.infer<typeof attentionCondition>;

/** GET /api/attention (administrators): the most severe first, then the oldest. */
export const attentionAnswer = z.object({ conditions: z.array(attentionCondition) });
export type AttentionAnswer = z.infer<typeof attentionAnswer>;
