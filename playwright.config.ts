import { availableParallelism } from 'node:os';
import { defineConfig } from '@playwright/test';
import { CHROMIUM_FLAGS, findChromium } from './scripts/lib/chromium.mjs';

const chromium = findChromium();

/** Titles begin with their file. */
const LONG = /\.long\.spec\.ts|@long/;

export default defineConfig({
  // Its files run in the order of their names, so the name of the longest one comes first.
  testDir: 'e2e',
  // `npm run test:long` runs the long ones: whole files, and tests with the tag in others.
  ...(process.env.LONG_TESTS === '1' ? { grep: LONG } : { grepInvert: LONG }),
  globalSetup: './e2e/global-setup.ts',
  outputDir: 'test-results',
  // Each worker runs a whole server with its database beside the browser.
  workers: availableParallelism() + 1,
  fullyParallel: false,
  forbidOnly: true,
  timeout: 180_000,
  expect: { timeout: 20_000 },
  reporter: 'list',
  use: {
    browserName: 'chromium',
    actionTimeout: 30_000,
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    screenshot: 'only-on-failure',
    // Recording costs as much again as the journeys; `--trace retain-on-failure` asks for it.
    trace: 'off',
    launchOptions: {
      ...(chromium ? { executablePath: chromium } : {}),
      args: CHROMIUM_FLAGS,
    },
  },
});
