import type { NavigationPage } from '#contract/pages.ts';
import type { Signal } from '#contract/signals.ts';
import { withParams } from '../../lib/api-client.ts';
import { capitalise, shortId } from '../../lib/format.ts';
import type { StopRequest } from '../../lib/trading-stops.ts';
import { isScreen } from '../navigation.ts';

export const COMMAND_GROUPS = [
  'Actions',
  'Pages',
  'Tokens',
  'Users',
  'Signals',
  'Workflows',
  'Help',
] as const;

export interface Command {
  id: string;
  group: (typeof COMMAND_GROUPS)[number];
  label: string;
  detail: string;
  /** The command's target; null opens the list of shortcuts, or the dialog of `stop`. */
  address: string | null;
  stop?: StopRequest;
}

export interface Known {
  isAdmin: boolean;
  pages: readonly NavigationPage[];
  users: readonly { id: string; username: string }[];
  tokens: readonly string[];
  signals: readonly Signal[];
}

/** Largest size of a group; typing more narrows it down. */
const GROUP_SIZE = 6;
/** Shortest searched part of an id. Ids of the same day share a prefix, so shorter parts match too many. */
const ID_PART_LENGTH = 4;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const isFullId = (query: string): boolean => UUID.test(query);

export const readQuery = (text: string): string => text.trim().toLowerCase();

/** Returns the matches in group order. An empty search lists the pages. */
export function findCommands(query: string, known: Known): Command[] {
  const pages = [...pageCommands(known), HELP].filter(({ label, detail }) =>
    query.split(/\s+/).every((word) => `${label} ${detail}`.toLowerCase().includes(word)),
  );
  const found =
    query === '' || !known.isAdmin
      ? pages
      : [...pages, ...adminCommands(query, known), ...stopCommands(query, known)];
  return COMMAND_GROUPS.flatMap((group) => found.filter((command) => command.group === group));
}

const HELP: Command = {
  id: 'shortcuts',
  group: 'Help',
  label: 'Keyboard Shortcuts',
  detail: '',
  address: null,
};

function pageCommands({ pages, isAdmin }: Known): Command[] {
  const listed = pages.flatMap(({ path, displayName }) =>
    isScreen(path) ? [{ path, label: displayName }] : [],
  );
  return [
    ...listed,
    ...(isAdmin ? [{ path: '/admin', label: 'Admin Dashboard' }] : []),
    { path: '/settings', label: 'Settings' },
  ].map(({ path, label }) => ({
    id: `page ${path}`,
    group: 'Pages',
    label,
    detail: path,
    address: path,
  }));
}

function adminCommands(query: string, { users, tokens, signals }: Known): Command[] {
  return [
    ...best(tokens, (token) => token.toLowerCase(), query).map(tokenCommand),
    ...best(users, ({ username }) => username.toLowerCase(), query).map(userCommand),
    ...users.filter(({ id }) => id === query).map(userCommand),
    ...signals
      .filter(({ id }) => isIdPart(query, id))
      .slice(0, GROUP_SIZE)
      .map(signalCommand),
  ];
}

const action = (label: string, detail: string, stop: StopRequest): Command => ({
  id: `action ${stop.action} ${stop.kind} ${stop.value}`,
  group: 'Actions',
  label,
  detail,
  address: null,
  stop,
});

const STOP = { action: 'stop', value: null } as const;
const ACTIONS = [
  action('Stop new entries', 'For everybody', { ...STOP, kind: 'all' }),
  action('Stop new entries of a strategy', '', { ...STOP, kind: 'strategy' }),
  action('Stop new entries of a token', '', { ...STOP, kind: 'token' }),
  action('Stop new entries of a user', '', { ...STOP, kind: 'user' }),
  action('Close all positions', 'Asks to type CLOSE', { action: 'close-all', kind: 'all', value: null }),
];
/** 'pause BTC', 'stop anna'. */
const VERB = /^(?:stop|pause)\s+(.+)$/;

/** Actions by their words, and stops of the token or user that follows the verb. */
function stopCommands(query: string, { users, tokens }: Known): Command[] {
  const words = query.split(/\s+/);
  const named = ACTIONS.filter(({ label }) =>
    words.every((word) => label.toLowerCase().includes(word === 'pause' ? 'stop' : word)),
  );
  const [, whom] = VERB.exec(query) ?? [];
  if (whom === undefined) return named.slice(0, GROUP_SIZE);
  const one = [
    ...best(tokens, (token) => token.toLowerCase(), whom).map((token) =>
      action(`Stop new entries of ${token}`, 'Token', { ...STOP, kind: 'token', value: token }),
    ),
    ...best(users, ({ username }) => username.toLowerCase(), whom).map(({ id, username }) =>
      action(`Stop new entries of ${username}`, 'User', { ...STOP, kind: 'user', value: id }),
    ),
  ];
  return [...named, ...one].slice(0, GROUP_SIZE);
}

/** Items that start with the search come before items that contain it. */
function best<Item>(items: readonly Item[], textOf: (item: Item) => string, query: string): Item[] {
  const matches = items.filter((item) => textOf(item).includes(query));
  const begins = matches.filter((item) => textOf(item).startsWith(query));
  return [...begins, ...matches.filter((item) => !begins.includes(item))].slice(0, GROUP_SIZE);
}

/** Whether the query is a prefix or suffix of the id, the whole id, or its short form as shown in tables. */
function isIdPart(query: string, id: string): boolean {
  const [start = '', end, ...more] = query.split('...');
  if (more.length > 0) return false;
  if (end !== undefined)
    return start.length + end.length >= ID_PART_LENGTH && id.startsWith(start) && id.endsWith(end);
  return query.length >= ID_PART_LENGTH && (id.startsWith(query) || id.endsWith(query));
}

const tokenCommand = (token: string): Command => ({
  id: `token ${token}`,
  group: 'Tokens',
  label: token,
  detail: 'Signals of this token',
  address: withParams('/signals', { token }),
});

const userCommand = ({ id, username }: { id: string; username: string }): Command => ({
  id: `user ${id}`,
  group: 'Users',
  label: username,
  detail: 'Settings of this user',
  address: withParams('/settings', { userId: id }),
});

export const signalCommand = ({ id, token, action, processor }: Signal): Command => ({
  id: `signal ${id}`,
  group: 'Signals',
  label: `${shortId(id, 9)}  ${token} ${capitalise(action)}`,
  detail: processor,
  address: withParams('/signals', { dialog: 'signal', signal: id }),
});

export const workflowCommand = (workflowId: string): Command => ({
  id: `workflow ${workflowId}`,
  group: 'Workflows',
  label: shortId(workflowId, 9),
  detail: 'Steps of this workflow',
  address: withParams('/automation-workflows', { dialog: 'steps', workflow: workflowId }),
});
