import type { Deps } from '#server/deps.ts';

export type AutomationDeps = Pick<
  Deps,
  'db' | 'clock' | 'config' | 'jobs' | 'log' | 'exchanges' | 'findAccount' | 'accountGuard' | 'onTradeEnd'
>;

/** The instance that worked on a step, as the monitor shows it. */
export const processorName = (deps: Pick<Deps, 'config'>): string =>
  `automation@${deps.config.instanceId.slice(0, 8)}`;
