import type { Bench } from './bench.ts';
import { benchEvents } from './events.ts';
import { benchFanOut } from './fan-out.ts';
import { benchFirstOrder } from './first-order.ts';
import { benchGrowth } from './growth.ts';
import { benchHostile } from './hostile.ts';
import { benchIngest } from './ingest.ts';
import { benchLists } from './lists.ts';
import { benchMemory } from './memory.ts';
import { benchScreens } from './screens.ts';
import { benchSoak } from './soak.ts';
import { benchStarts } from './starts.ts';
import { benchTests } from './tests.ts';
import { benchThrottled } from './throttled.ts';
import { benchTrading } from './trading.ts';
import { benchWorkflows } from './workflows.ts';

export const BENCHES: Record<string, Bench> = {
  ingest: {
    about: 'deliveries a second, beside pgbench and servers without a database',
    takes: '6 minutes',
    run: benchIngest,
  },
  trading: { about: 'deliveries while 1,000 users are traded', takes: '3 minutes', run: benchTrading },
  workflows: {
    about: 'signals that nobody is traded for, to the end of their workflows',
    takes: '1 minute',
    run: benchWorkflows,
  },
  'first-order': {
    about: "from a signal's answer to its first order",
    takes: '3 minutes',
    run: benchFirstOrder,
  },
  'fan-out': { about: 'one signal for 1,000 users', takes: '3 minutes', run: benchFanOut },
  throttled: {
    about: 'signals and closes of 49 accounts while the exchange throttles the 50th',
    takes: '5 minutes',
    run: benchThrottled,
  },
  events: { about: 'a change until 100 browsers know it', takes: '1 minute', run: benchEvents },
  memory: { about: 'memory at rest and after 100,000 alerts', takes: '4 minutes', run: benchMemory },
  starts: { about: 'the first start and the second', takes: '1 minute', run: benchStarts },
  screens: { about: 'weight of the screens, and Lighthouse', takes: '3 minutes', run: benchScreens },
  lists: {
    about: 'every list with a million signals and five million price logs',
    takes: '10 minutes',
    run: benchLists,
  },
  growth: {
    about: 'ingest with ten times the data, and with three instances',
    takes: '6 minutes',
    run: benchGrowth,
  },
  hostile: {
    about: 'deliveries while hostile requests come in, and what the worst one costs',
    takes: '5 minutes',
    run: benchHostile,
  },
  soak: { about: 'whether memory grows', takes: 'half an hour', only: 'all', run: benchSoak },
  tests: { about: 'the whole of npm test', takes: 'a quarter of an hour', only: 'named', run: benchTests },
};
