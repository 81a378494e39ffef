import type { PositionMakerStatus } from '#contract/position-maker.ts';
import { formatCount } from '../../lib/format.ts';

/** The four cards at the top of the page. */
export function statusCards({ isRunning, threadManager }: PositionMakerStatus) {
  const { activeWorkers, totalWorkers, processingTasks, completedTasks } = threadManager;
  return [
    {
      label: 'System Status',
      value: <span className={isRunning ? 'buy' : 'sell'}>{isRunning ? 'Running' : 'Stopped'}</span>,
    },
    { label: 'Active Workers', value: `${formatCount(activeWorkers)}/${formatCount(totalWorkers)}` },
    { label: 'Processing Tasks', value: formatCount(processingTasks) },
    { label: 'Completed Tasks', value: formatCount(completedTasks) },
  ];
}
