import type { Deps } from '#server/deps.ts';

export type AutomationDeps = Pick<
  Deps,
  'db' | 'clock' | 'config' | 'jobs' | 'log' | 'exchanges' | 'findAccount' | 'accountGuard' | 'onTradeEnd'
>;

/** Which instance worked on a step, as shown in the monitor. */
export const processorName = (deps: Pick<Deps, 'config'>): string =>
  `automation@${deps.config.instanceId.slice(0, 8)}`;
