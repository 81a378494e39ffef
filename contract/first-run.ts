import { z } from 'zod';

/** The steps from a fresh installation to the first filled order, in order. */
export const FIRST_RUN_STEPS = ['webhook', 'user', 'trading', 'signal', 'fill'] as const;
export type FirstRunStepName = (typeof FIRST_RUN_STEPS)[number];

/** GET /api/first-run (administrators): what is done on the way to the first fill, computed from the database. */
export const firstRunAnswer = z.object({
  /** An order was filled at least once: the steps are over. */
  filled: z.boolean(),
  exchangeMode: z.enum(['paper', 'demo', 'live']),
  /** False: signals are recorded and not traded, so workflows are triggered by hand. */
  automatic: z.boolean(),
  /** False while real money is traded automatically. */
  mayDemo: z.boolean(),
  /** The caller's own webhook. One that is suspended or whose key cannot be read is not usable. */
  webhook: z.enum(['none', 'unusable', 'ready']),
  /** The user that the step `trading` is about: the first one who could trade. */
  tradingUser: z.object({ id: z.string(), username: z.string(), isPaused: z.boolean() }).nullable(),
  /** What has arrived from administrators' webhooks. */
  candle: z.boolean(),
  signal: z.boolean(),
  steps: z.array(z.object({ step: z.enum(FIRST_RUN_STEPS), done: z.boolean(), detail: z.string() })),
});
export type FirstRunAnswer = z.infer<typeof firstRunAnswer>;

/** POST /api/first-run/demo-signal: a candle and a buy signal, sent through the caller's own webhook. */
export const demoSignalBody = z.object({});
export const demoSignalAnswer = z.object({ signalId: z.string(), message: z.string() });
export type DemoSignalAnswer = z.infer<typeof demoSignalAnswer>;
