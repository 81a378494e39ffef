// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { eventually, page, recorded, renderApp, rowsOf } from '#test/web/render-app.tsx';
import { startOfDays } from './time-range.tsx';

const SIGNALS = 'GET /api/signals';
const signedInFrom = (displayTimezone: string) => ({ ...recorded['GET /api/auth/user'], displayTimezone });

describe('the start of so many days', () => {
  test.each([
    [1, 'UTC', '2026-03-09T00:00:00.000Z'],
    [7, 'UTC', '2026-03-03T00:00:00.000Z'],
    [30, 'UTC', '2026-02-08T00:00:00.000Z'],
    // There it is still the day before.
    [1, 'America/Los_Angeles', '2026-03-08T08:00:00.000Z'],
    // Clocks went forward in between.
    [2, 'America/Los_Angeles', '2026-03-07T08:00:00.000Z'],
    [1, 'Asia/Tokyo', '2026-03-08T15:00:00.000Z'],
  ])('%i up to today in %s is midnight there', (days, timeZone, start) => {
    expect(startOfDays(days, { now: new Date('2026-03-09T06:30:00Z'), timeZone })).toBe(start);
  });
});

// Requirements: additions-lists-2
test.each([
  ['/signals', SIGNALS, 'Signal History'],
  ['/price-logs', 'GET /api/price-logs', 'Price Logs'],
  ['/automation-workflows', 'GET /api/automation-workflows', 'Workflow Runs'],
] as const)(
  'the chips of %s limit the list, stand in the address and are cleared',
  async (path, call, table) => {
    const app = renderApp(`${path}?page=2`, { 'GET /api/auth/user': signedInFrom('Asia/Tokyo') });
    const chip = (name: string) => page().getByRole('button', { name });
    await eventually(() => expect(rowsOf(table).length).toBeGreaterThan(0));
    expect(chip('All').getAttribute('aria-pressed')).toBe('true');
    await app.user.click(chip('7 d'));
    const from = startOfDays(7, { now: new Date(), timeZone: 'Asia/Tokyo' });
    await eventually(() => expect(app.sent(call).at(-1)?.query).toMatchObject({ page: '1', from }));
    expect(app.address()).toBe(`${path}?${new URLSearchParams({ from: from ?? '' })}`);
    expect(chip('7 d').getAttribute('aria-pressed')).toBe('true');
    expect(chip('All').getAttribute('aria-pressed')).toBe('false');
    await app.user.click(chip('All'));
    await eventually(() => expect(app.address()).toBe(path));
  },
);

test('a range from the address that is no chip is used, and no chip is chosen', async () => {
  const range = { from: '2026-01-02T00:00:00.000Z', to: '2026-01-03T00:00:00.000Z' };
  const app = renderApp(`/signals?${new URLSearchParams(range)}`);
  await eventually(() => expect(app.sent(SIGNALS).at(-1)?.query).toMatchObject(range));
  for (const name of ['Today', '7 d', '30 d', 'All']) {
    expect(page().getByRole('button', { name }).getAttribute('aria-pressed'), name).toBe('false');
  }
  await app.user.click(page().getByRole('button', { name: 'Clear Filters' }));
  await eventually(() => expect(app.address()).toBe('/signals'));
});
