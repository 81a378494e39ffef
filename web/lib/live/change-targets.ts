import type { Change, ChangeTopic } from '#contract/events.ts';

/** Which of the paths that screens have fetched may answer differently after a change. */
type Target = (path: string, change: Change) => boolean;

const SIGNALS = '/api/signals';
const WORKFLOWS = '/api/automation-workflows';

/** `/api/signals/{id}/…` of the change's signal; of any signal when the change names none. */
const ofRecord = (path: string, list: string, id: string | undefined) =>
  id === undefined
    ? path.startsWith(`${list}/`)
    : path === `${list}/${id}` || path.startsWith(`${list}/${id}/`);

const RECORD_ID = /\/[0-9a-f]{8}-[0-9a-f-]{27}(\/|$)/;
const isListOf = (path: string, list: string) =>
  (path === list || path.startsWith(`${list}/`)) && !RECORD_ID.test(path);

const TARGETS: Record<ChangeTopic, Target> = {
  signals: (path) => isListOf(path, SIGNALS) || path === '/api/current-price',
  'price-logs': (path) => path.startsWith('/api/price-logs') || path.endsWith('/chart'),
  workflows: (path, { signalId, workflowId }) =>
    path === SIGNALS ||
    isListOf(path, WORKFLOWS) ||
    ofRecord(path, SIGNALS, signalId) ||
    ofRecord(path, WORKFLOWS, workflowId),
  'workflow-steps': (path, { workflowId }) =>
    path === WORKFLOWS || ofRecord(path, WORKFLOWS, workflowId) || path.includes('/why/'),
  'workflow-users': (path, { workflowId }) =>
    ofRecord(path, WORKFLOWS, workflowId) || path.endsWith('/users') || path.includes('/why/'),
  calculations: (path, { signalId }) => path === SIGNALS || ofRecord(path, SIGNALS, signalId),
  trades: (path, { signalId }) =>
    path === SIGNALS ||
    path === WORKFLOWS ||
    ofRecord(path, SIGNALS, signalId) ||
    path.startsWith('/api/position-maker/') ||
    path.startsWith('/api/positions') ||
    path === '/api/my-positions',
  deliveries: (path) => path.startsWith('/api/hooks/'),
  // Not the webhook itself: a key is returned whole only once after it was made, and fetching again would hide it.
  hooks: (path) => path.startsWith('/api/hooks/'),
  users: (path) =>
    path.startsWith('/api/admin/user') ||
    path === '/api/users' ||
    path.startsWith('/api/user-settings') ||
    path.includes('/why/') ||
    path === '/api/signal/check-eligibility',
  'trading-halts': (path) =>
    path === '/api/admin/trading-halts' ||
    path === '/api/my-trading-halts' ||
    path.includes('/why/') ||
    path === '/api/signal/check-eligibility',
  sessions: () => false,
};

export function isAffected(path: unknown, change: Change): boolean {
  return typeof path === 'string' && TARGETS[change.topic]?.(path, change) === true;
}

/** Everything that any change could touch: fetched again when changes may have been missed. */
export function isLive(path: unknown): boolean {
  return Object.keys(TARGETS).some((topic) => isAffected(path, { topic: topic as ChangeTopic }));
}
