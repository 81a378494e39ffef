import type { Change, ChangeTopic } from '#contract/events.ts';

/** Whether a path may return something different after a change. */
type Target = (path: string, change: Change, viewerId: string | undefined) => boolean;

const SIGNALS = '/api/signals';
const WORKFLOWS = '/api/automation-workflows';
const ALL_HOOKS = '/api/admin/hooks';

/** Matches `/api/signals/{id}/…` of the change's record, or of any record when the change names none. */
const ofRecord = (path: string, list: string, id: string | undefined) =>
  id === undefined
    ? path.startsWith(`${list}/`)
    : path === `${list}/${id}` || path.startsWith(`${list}/${id}/`);

/** Announced where a person, a workflow's end or an order may change it; the rest is polled. */
const ATTENTION = '/api/attention';

/** Includes the pauses of users' settings. */
const STOPS = '/api/trading-stops';
/** The steps to the first fill: nearly every change may be one of them. */
const FIRST_RUN = '/api/first-run';

/** Figures and states of accounts. */
const isOverview = (path: string) =>
  path === '/api/overview' || path === '/api/my-overview' || path === '/api/trading-states';
const isDecisions = (path: string) => path.endsWith('/decisions');

const RECORD_ID = /\/[0-9a-f]{8}-[0-9a-f-]{27}(\/|$)/;
const isListOf = (path: string, list: string) =>
  (path === list || path.startsWith(`${list}/`)) && !RECORD_ID.test(path);

/** Paths of another user's account or settings; captures the user's id. */
const USER_PATH = /^\/api\/admin\/user(?:-settings)?\/([^/]+)/;
const OWN_SETTINGS = '/api/user-settings';

/** Id of the user described by an account or settings path; undefined for other paths. */
const subjectOf = (path: string, viewerId: string | undefined): string | undefined =>
  path.startsWith(OWN_SETTINGS) ? viewerId : USER_PATH.exec(path)?.[1];

const TARGETS: Record<ChangeTopic, Target> = {
  signals: (path) => isListOf(path, SIGNALS) || path === '/api/current-price' || path === FIRST_RUN,
  'price-logs': (path) => path.startsWith('/api/price-logs') || path.endsWith('/chart') || path === FIRST_RUN,
  workflows: (path, { signalId, workflowId }) =>
    path === FIRST_RUN ||
    path === ATTENTION ||
    isOverview(path) ||
    isDecisions(path) ||
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
    path === '/api/my-positions' ||
    path === FIRST_RUN ||
    isOverview(path) ||
    isDecisions(path) ||
    path.startsWith('/api/performance'),
  deliveries: (path) => path.startsWith('/api/hooks/'),
  // Not the webhook itself: the server returns a new key in full only once, and a refetch would hide it.
  hooks: (path) => path.startsWith('/api/hooks/') || path === ALL_HOOKS || path === FIRST_RUN,
  users: (path, { userId }, viewerId) => {
    const subject = subjectOf(path, viewerId);
    if (subject !== undefined && typeof userId === 'string') return subject === userId;
    return (
      path.startsWith('/api/admin/user') ||
      path === ALL_HOOKS ||
      path === FIRST_RUN ||
      isOverview(path) ||
      path === '/api/users' ||
      path.startsWith(OWN_SETTINGS) ||
      path === ATTENTION ||
      path === STOPS ||
      path.includes('/why/') ||
      path === '/api/signal/check-eligibility'
    );
  },
  'trading-halts': (path) =>
    path === '/api/admin/trading-halts' ||
    path === '/api/my-trading-halts' ||
    path === ATTENTION ||
    isOverview(path) ||
    path.includes('/why/') ||
    path === '/api/signal/check-eligibility',
  'trading-stops': (path) =>
    path === STOPS ||
    path === ATTENTION ||
    path.includes('/why/') ||
    path === '/api/signal/check-eligibility',
  flattens: (path) => path.startsWith('/api/positions/close-all') || path === ATTENTION,
  sessions: () => false,
  notifications: (path) => path.startsWith('/api/notifications'),
};

/** `viewerId`: the signed-in user, whom paths without an id describe. */
export function isAffected(path: unknown, change: Change, viewerId?: string): boolean {
  return typeof path === 'string' && TARGETS[change.topic]?.(path, change, viewerId) === true;
}

/** Whether any change can affect a path. Such paths are refetched when changes may have been missed. */
export function isLive(path: unknown): boolean {
  return Object.keys(TARGETS).some((topic) => isAffected(path, { topic: topic as ChangeTopic }));
}
