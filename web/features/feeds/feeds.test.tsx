// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import {
  dialog,
  eventually,
  failure,
  fill,
  findTitle,
  page,
  recorded,
  renderApp,
  rowsOf,
} from '#test/web/render-app.tsx';

const FEEDS = 'GET /api/feeds';
const [feed] = recorded[FEEDS].feeds;
const silent = {
  ...feed,
  id: 'silent',
  token: 'BTC',
  processor: 'Tesla',
  state: 'silent',
  gaps7d: 1_234,
  skewSeconds: -300,
  hours: { from: '09:00', to: '17:00' },
};

const cells = () =>
  rowsOf('Feeds').map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent));

describe('the feeds', () => {
  // Requirements: additions-alerts-14
  test('are shown with state, last candle, missing candles and clock', async () => {
    const late = { ...feed, id: 'late', skewSeconds: null };
    renderApp('/feeds', { [FEEDS]: { feeds: [feed, silent, late] } });
    await findTitle('Feeds');
    await eventually(() => expect(rowsOf('Feeds')).toHaveLength(3));
    expect(cells()[2]?.[5], 'not known').toBe('–');
    const [first, second] = cells();
    expect(first?.slice(0, 2)).toEqual(['ETH 15m', 'Learning']);
    expect(first?.slice(4, 8)).toEqual(['0', 'In step', 'Always', 'admin@example.com']);
    expect(second?.slice(0, 2)).toEqual(['BTC 15m · Tesla', 'Silent']);
    expect(second?.slice(4, 7)).toEqual(['1,234', '300 s ahead', '09:00 to 17:00']);
  });

  test('are muted and changed', async () => {
    const app = renderApp('/feeds', { [FEEDS]: { feeds: [silent] }, 'PUT /api/feeds/silent': silent });
    (await page().findByRole('button', { name: 'Mute BTC 15m Tesla' })).click();
    await eventually(() => expect(app.sent('PUT /api/feeds/silent')[0]?.body).toEqual({ muted: true }));
    (await page().findByRole('button', { name: 'Edit BTC 15m Tesla' })).click();
    const form = await dialog('Edit BTC 15m Tesla');
    fill(form.getByLabelText('Late after (seconds)'), 'soon');
    (await form.findByRole('button', { name: 'Save' })).click();
    await form.findByText(/^Enter whole seconds/);
    fill(form.getByLabelText('Late after (seconds)'), '600');
    (await form.findByRole('button', { name: 'Save' })).click();
    await eventually(() =>
      expect(app.sent('PUT /api/feeds/silent')[1]?.body).toEqual({
        graceSeconds: 600,
        hours: { from: '09:00', to: '17:00' },
      }),
    );
  });

  test('say how they begin, and report a failure', async () => {
    const app = renderApp('/feeds', { [FEEDS]: { feeds: [] } });
    await page().findByText(/^No feeds yet/);
    app.answers[FEEDS] = failure(500, 'Internal server error');
    app.reload();
    await page().findByText('Failed to fetch feeds');
  });
});
