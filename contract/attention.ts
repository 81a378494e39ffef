import { z } from 'zod';

export const ATTENTION_SEVERITIES = ['info', 'warning', 'critical'] as const;

/** A condition that an operator should look at. Derived from the current state; disappears with its cause. */
export const attentionCondition = z.object({
  /** The kind of condition as one word, such as `untrusted_proxy`. */
  code: z.string(),
  severity: z.enum(ATTENTION_SEVERITIES),
  /** When the condition began, if known. */
  since: z.string().nullable(),
  text: z.string(),
  /** Path of the screen where the operator can fix it; `action` labels the button that leads there. */
  link: z.string().nullable(),
  action: z.string().nullable(),
});
export type AttentionCondition = z.infer<typeof attentionCondition>;

/** GET /api/attention (administrators): most severe first, then oldest first. */
export const attentionAnswer = z.object({ conditions: z.array(attentionCondition) });
export type AttentionAnswer = z.infer<typeof attentionAnswer>;
