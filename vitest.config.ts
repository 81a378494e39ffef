import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Two at a time: every file of the server brings its own database and its own program.
    maxWorkers: 2,
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{domain,contract,web}/**/*.test.{ts,tsx}'],
        },
      },
      {
        extends: true,
        test: {
          name: 'server',
          include: ['{server,test,scripts,bench}/**/*.test.ts'],
          globalSetup: ['test/vitest-global-setup.ts'],
          // Some start whole programs, on machines that may be busy with something else.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
