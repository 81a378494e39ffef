import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** What `npm run test:long` runs. */
const LONG_TESTS = '**/*.long.test.{ts,tsx}';

/** Begun last, one of these would be all that runs for a minute. */
const LONG = [
  'server/operator-commands.long.test.ts',
  'test/faults/short.long.test.ts',
  'server/engine/workflow/crash.long.test.ts',
  'server/engine/orders/move-protection.long.test.ts',
  'server/engine/orders/contradictory-look-ups.long.test.ts',
  'server/main.long.test.ts',
  'web/app/incomplete-answers.long.test.tsx',
  'server/console/positions/close-open-position.test.ts',
  'server/main.test.ts',
  'server/console/positions/positions.test.ts',
  'server/engine/orders/submit-order.test.ts',
  'server/engine/orders/order-in-doubt.test.ts',
  'server/engine/orders/contradictory-look-ups.test.ts',
  'server/engine/orders/protection.test.ts',
  'server/engine/orders/move-protection.test.ts',
  'server/engine/orders/faults.test.ts',
  'server/engine/exits/watch-exits.test.ts',
  'server/engine/workflow/leave-position.test.ts',
  'server/admin/backup/backup.test.ts',
  'server/audit-verify.test.ts',
  'scripts/commands.test.ts',
  'server/admin/auth/account-guesses.test.ts',
  'server/platform/db/embedded.test.ts',
  'server/admin/auth/password-limits.test.ts',
];

/** A fresh checkout remembers no durations; the order is then by the size of the files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]) {
    const rank = (path: string) => {
      const at = LONG.findIndex((end) => path.endsWith(`/${end}`));
      return at < 0 ? LONG.length : at;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one.moduleId) - rank(other.moduleId));
  }
}

export default defineConfig({
  test: {
    // Twice the cores: many files of the server wait for a while.
    maxWorkers: 2 * availableParallelism(),
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Every file makes what it needs, a database as well, and takes it away: to load all modules anew for each took
    // a seventh of the time.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A failure shows its values in full: CI prints nothing else of them.
    chaiConfig: { truncateThreshold: 0 },
    // A poll ends as soon as it is right; its default of a second is short on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          provide: { everyCase: false },
          include: ['{domain,contract,web}/**/*.test.{ts,tsx}'],
          exclude: [LONG_TESTS],
        },
      },
      {
        extends: true,
        test: {
          name: 'server',
          provide: { everyCase: false },
          include: ['{server,test,scripts,bench,demo}/**/*.test.ts'],
          exclude: [LONG_TESTS],
          globalSetup: ['test/vitest-global-setup.ts'],
          // Some start whole programs, on machines that may be busy with something else.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          provide: { everyCase: true },
          include: [`{domain,contract,web,server,test,scripts,bench,demo}/${LONG_TESTS}`],
          globalSetup: ['test/vitest-global-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
