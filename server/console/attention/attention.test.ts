import { expect, test } from 'vitest';
import type { AttentionCondition } from '#contract/attention.ts';
import { systemClock } from '#server/platform/clock.ts';
import { createLog } from '#server/platform/log.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { startWorld } from '#test/world.ts';
import { collectConditions } from './attention.routes.ts';

const log = createLog({ level: 'silent' });

const condition = (code: string, more: Partial<AttentionCondition> = {}): AttentionCondition => ({
  code,
  severity: 'warning',
  since: '2026-03-04T00:00:00.000Z',
  text: code,
  link: null,
  action: null,
  ...more,
});

test('returns conditions of all sources, most severe first, then oldest first', async () => {
  const sources = [
    async () => [
      condition('e', { severity: 'info', since: '2026-01-01T00:00:00.000Z' }),
      condition('c', { since: '2026-03-02T00:00:00.000Z' }),
      condition('d', { since: null }),
    ],
    async () => [],
    async () => [
      condition('b', { since: '2026-03-01T00:00:00.000Z' }),
      condition('a', { severity: 'critical' }),
    ],
  ];
  const found = await collectConditions({ sources, clock: systemClock, log });
  expect(found.map(({ code }) => code)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test.each([
  ['fails', () => Promise.reject(new Error('the table is gone'))],
  [
    'throws',
    () => {
      throw new Error('the table is gone');
    },
  ],
  ['does not answer', () => new Promise<never>(() => {})],
])('a source that %s hides no other, and the list is marked as incomplete', async (_how, source) => {
  const lines: string[] = [];
  const chatty = createLog({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const found = await collectConditions({
    clock: systemClock,
    sources: [source, async () => [condition('a')]],
    log: chatty,
    limitMs: 50,
  });
  expect(found).toEqual([
    condition('a'),
    condition('not_checked', {
      since: null,
      text: 'Some conditions could not be checked. The log says why.',
    }),
  ]);
  expect(lines.join('')).toContain('a source of conditions failed');
});

test('reports a proxy missing from TRUST_PROXY until it has not been seen for a day', async () => {
  const clock = fakeClock('2026-03-04T05:06:07.000Z');
  const board = await startWorld({ clock, config: { trustProxy: ['10.9.9.9'] } });
  const conditions = async () => {
    const admin = await board.signIn('admin@example.com', 'correct horse battery');
    return (await admin.get('/api/attention')).json();
  };
  expect(await conditions()).toEqual({ conditions: [] });

  const forwarded = { headers: { 'x-forwarded-for': '203.0.113.1' } };
  // Deliveries count too: a server behind a forgotten proxy may see nothing else for hours.
  await board.anonymous.post(
    '/hooks/trading_view_signal?hkid=none',
    {},
    { ...forwarded, remoteAddress: '10.0.0.5' },
  );
  await board.anonymous.get('/api/nothing', { ...forwarded, remoteAddress: '10.9.9.9' });
  expect(await conditions()).toEqual({
    conditions: [
      {
        code: 'untrusted_proxy',
        severity: 'warning',
        since: '2026-03-04T05:06:07.000Z',
        text: '10.0.0.5 sends X-Forwarded-For, but TRUST_PROXY does not name it: everybody behind it counts as one address. If it is your reverse proxy, set TRUST_PROXY=10.9.9.9,10.0.0.5 and start again.',
        link: null,
        action: null,
      },
    ],
  });
  expect(board.logged().split('X-Forwarded-For is not believed').length).toBe(2);

  clock.advance(86_400_000);
  expect(await conditions()).toEqual({ conditions: [] });
  await board.close();
});

// Requirements: order-execution-15
testEveryCase('shows that the clock of the machine was set, for a day', async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
  const board = await startWorld({ clock, engine: true, background: ['clock watch'] });
  const conditions = async () =>
    (await board.admin.get('/api/attention')).json<{ conditions: AttentionCondition[] }>().conditions;
  expect(await conditions()).toEqual([]);
  aheadMs = -60_000;
  await expect.poll(conditions, { timeout: 20_000 }).toMatchObject([
    {
      code: 'clock_stepped',
      severity: 'warning',
      text: expect.stringMatching(/^The clock of .* went (59|60)\.\d s back at once: /),
    },
  ]);
  expect(board.logged()).toContain('the clock of this machine was set');
  await board.close();
});
