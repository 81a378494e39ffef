import { describe, expect, test } from 'vitest';
import { CHANGE_TOPICS } from '#contract/events.ts';
import { isAffected, isLive } from './change-targets.ts';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const OTHER = '01890a5d-ac96-774b-bcce-b302099a8058';

describe('a change', () => {
  // Requirements: live-updates-7
  test.each([
    [
      'signals',
      {},
      ['/api/signals', '/api/signals/stats', '/api/signals/tokens', '/api/first-run'],
      [`/api/signals/${ID}`, '/api/price-logs'],
    ],
    [
      'price-logs',
      {},
      ['/api/price-logs', '/api/price-logs/candles', `/api/signals/${ID}/chart`, '/api/first-run'],
      ['/api/signals'],
    ],
    [
      'workflows',
      { signalId: ID, workflowId: OTHER },
      [
        '/api/signals',
        '/api/automation-workflows',
        `/api/signals/${ID}/workflows`,
        `/api/automation-workflows/${OTHER}/steps`,
        '/api/attention',
        '/api/overview',
      ],
      [`/api/signals/${OTHER}/workflows`, `/api/automation-workflows/${ID}/steps`, '/api/signals/stats'],
    ],
    [
      'workflow-steps',
      { workflowId: ID },
      [`/api/automation-workflows/${ID}/steps`, '/api/automation-workflows'],
      [`/api/automation-workflows/${OTHER}/steps`, '/api/signals'],
    ],
    [
      'workflow-users',
      { workflowId: ID },
      [`/api/automation-workflows/${ID}/users`, `/api/signals/${OTHER}/users`],
      ['/api/signals'],
    ],
    [
      'calculations',
      { signalId: ID },
      ['/api/signals', `/api/signals/${ID}/sltp`],
      [`/api/signals/${OTHER}/sltp`],
    ],
    [
      'trades',
      { signalId: ID, tradeId: OTHER },
      [
        '/api/signals',
        `/api/signals/${ID}/trades`,
        '/api/automation-workflows',
        '/api/position-maker/logs',
        '/api/positions',
        '/api/my-positions',
        '/api/first-run',
        '/api/overview',
        `/api/users/${OTHER}/decisions`,
      ],
      [`/api/signals/${OTHER}/trades`, '/api/users'],
    ],
    ['deliveries', { userId: ID }, [`/api/hooks/${OTHER}/deliveries`], ['/api/hooks']],
    [
      'hooks',
      { userId: ID },
      [`/api/hooks/${OTHER}/deliveries`, '/api/admin/hooks', '/api/first-run'],
      ['/api/hooks', '/api/users'],
    ],
    [
      'users',
      { userId: ID },
      [
        '/api/admin/users',
        `/api/admin/user/${ID}`,
        `/api/admin/user-settings/${ID}`,
        `/api/admin/user-settings/${ID}/exchange-credentials`,
        '/api/admin/hooks',
        '/api/users',
        '/api/attention',
      ],
      [
        '/api/auth/user',
        `/api/admin/user/${OTHER}`,
        `/api/admin/user-settings/${OTHER}`,
        `/api/admin/user-settings/${OTHER}/exchange-credentials`,
      ],
    ],
    [
      'trading-halts',
      { userId: ID },
      [
        '/api/admin/trading-halts',
        '/api/my-trading-halts',
        '/api/signal/check-eligibility',
        '/api/attention',
        '/api/my-overview',
        '/api/trading-states',
      ],
      ['/api/admin/users', '/api/positions'],
    ],
  ] as const)('of %s refetches the screens that show it, and no others', (topic, ids, hit, missed) => {
    for (const path of hit) expect(isAffected(path, { topic, ...ids }), path).toBe(true);
    for (const path of missed) expect(isAffected(path, { topic, ...ids }), path).toBe(false);
  });

  test("of a user affects that user's settings, or all users' settings when it names none", () => {
    for (const path of ['/api/user-settings', '/api/user-settings/exchange-credentials']) {
      expect(isAffected(path, { topic: 'users', userId: ID }, ID), path).toBe(true);
      expect(isAffected(path, { topic: 'users', userId: OTHER }, ID), path).toBe(false);
      expect(isAffected(path, { topic: 'users' }, ID), path).toBe(true);
      expect(isAffected(path, { topic: 'users', userId: null }, ID), path).toBe(true);
      expect(isLive(path)).toBe(true);
    }
    for (const path of [`/api/admin/user/${ID}`, `/api/admin/user-settings/${ID}`]) {
      expect(isAffected(path, { topic: 'users' }, OTHER), path).toBe(true);
      expect(isLive(path)).toBe(true);
    }
  });

  test('without an id affects every record of its kind', () => {
    expect(isAffected(`/api/signals/${ID}/trades`, { topic: 'trades' })).toBe(true);
    expect(isAffected(`/api/automation-workflows/${ID}/steps`, { topic: 'workflow-steps' })).toBe(true);
  });

  test('never affects the session, and every topic has a rule', () => {
    for (const topic of CHANGE_TOPICS) expect(isAffected('/api/auth/user', { topic })).toBe(false);
    expect(isLive('/api/signals')).toBe(true);
    expect(isLive('/api/auth/user')).toBe(false);
    expect(isLive(undefined)).toBe(false);
  });
});
