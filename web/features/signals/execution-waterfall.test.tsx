// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { alertOf, dialog, failure, ids, page, recorded, renderApp } from '#test/web/render-app.tsx';

const ADDRESS = `/signals?dialog=users&signal=${ids.signal}&tab=execution`;
const ROUTE = `GET /api/signals/${ids.signal}/execution`;
const report = recorded['GET /api/signals/01a20be8-1ac2-758a-89b4-074e74df52bc/execution'];
const [user] = report.users;

// Requirements: results-execution-3
test('shows who was sent when, who was late and what the time went to', async () => {
  const late = {
    ...user,
    userId: 'late',
    username: 'late@example.com',
    accepted: 9_000,
    filled: null,
    protected: null,
    rank: 2,
  };
  const none = {
    ...user,
    userId: 'none',
    username: 'none@example.com',
    rank: null,
    spent: null,
    slippageSignalBps: null,
    slippageEntryBps: null,
    decided: null,
    sent: null,
    accepted: null,
    filled: null,
    protected: null,
  };
  renderApp(ADDRESS, {
    [ROUTE]: {
      signal: {
        ...report.signal,
        lastOrder: 900,
        late: [{ userId: 'late', username: 'late@example.com', accepted: 9_000, mostly: 'limits' }],
      },
      users: [user, late, none],
    },
  });
  const users = await dialog('Users for Signal');
  await users.findByText(/Orders sent 612 ms to 900 ms after receipt/);
  users.getByText('late@example.com was late: accepted after 9.00 s, mostly request limits');
  const [, ...rows] = users.getAllByRole('row');
  expect(rows.map((row) => row.querySelector('th')?.textContent)).toEqual([
    'follower@example.com',
    'late@example.com',
    'none@example.com',
  ]);
  expect(rows[0]?.textContent).toContain('Accepted after 618 ms, Filled after 6.12 s');
  expect(rows[0]?.textContent).toContain('−1.00 / 0.00');
  expect(rows[2]?.textContent).toContain('No order');
});

test('says so when nobody was eligible, and offers to try again when it cannot be read', async () => {
  const app = renderApp(ADDRESS, { [ROUTE]: failure(503, 'Not now') });
  const failed = await alertOf('Failed to fetch the execution');
  app.answers[ROUTE] = { signal: { ...report.signal, firstOrder: null }, users: [] };
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await page().findByText('No user was eligible for this signal, so nothing was executed');
});
