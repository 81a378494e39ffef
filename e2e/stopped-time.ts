import type { Page } from '@playwright/test';

/**
 * Stops the time of a page with an installed clock until the test lets it pass, and records the seconds at which the
 * page called a path. No second passes while a request is in flight: that takes real time, more on a busy machine.
 */
export async function stopTime(page: Page, path: string) {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 3_600_000);
  const calls: number[] = [];
  const underWay = new Set<Promise<unknown>>();
  let seconds = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname !== path) return;
    calls.push(seconds);
    // A request that ends with its test has no answer.
    const answered = request
      .response()
      .then((response) => response?.finished())
      .catch(() => undefined);
    underWay.add(answered);
    void answered.then(() => underWay.delete(answered));
  });
  const pass = async (count: number) => {
    for (let passed = 0; passed < count; passed += 1) {
      await Promise.all(underWay);
      seconds += 1;
      await page.clock.runFor(1_000);
    }
  };
  return { calls, pass };
}
