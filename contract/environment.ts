import { z } from 'zod';

export const environmentStatus = z.object({
  environment: z.string(),
  nodeEnv: z.string(),
  isDeployment: z.boolean(),
  isProduction: z.boolean(),
  autoTradeEnabled: z.boolean(),
  autoTradeConfigured: z.boolean(),
  canProcessSignals: z.boolean(),
  serverInstanceId: z.string(),
  deploymentId: z.string().optional(),
  hasDeploymentId: z.boolean(),
  exchangeMode: z.enum(['paper', 'demo', 'live']),
  /** The setting MANUAL_ORDERS; `orderSubmissionAllowed` defines where it applies. */
  manualOrders: z.enum(['enabled', 'disabled']),
  timestamp: z.string(),
});
export type EnvironmentStatus = z.infer<typeof environmentStatus>;
