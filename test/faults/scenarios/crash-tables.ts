import type { VenueFault } from '#test/venues/faults.ts';
import type { VenueOperation } from '#test/venues/operations.ts';
import type { SeenStatement, StatementTrap } from '../database-proxy.ts';
import type { CallTrap, SeenCall } from '../fault-exchange.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** The trade to strike, with its ids as far as they were seen on the wire. */
export interface Target {
  token: string;
  accountId: string;
  workflowId: string | null;
  tradeId: string | null;
  isPlaced: boolean;
  /** Chooses 'before' or 'after' for points that allow both. */
  coin: boolean;
}

export type Point =
  | { name: string; statement: (target: Target, seen: SeenStatement) => boolean; at: 'before' | 'after' }
  | { name: string; call: VenueOperation; at: 'before' | 'after' | 'coin' }
  | { name: string; at: 'answered' };

const isCommit = (text: string) => /^Q[\s\S]{4}commit/i.test(text);
const has = (text: string, id: string | null) => id !== null && text.includes(id);

/** The points at which the program dies, from reading the alert to the last check of its order. */
export const POINTS: Point[] = [
  { name: 'P0-read', at: 'before', statement: (_target, { text }) => text.includes('"hooks"."key_hash" in') },
  {
    name: 'P1-before-commit',
    at: 'before',
    statement: ({ token }, { text, transaction }) =>
      text.includes('insert into "deliveries"') && transaction.includes(token),
  },
  {
    name: 'P2-committed',
    at: 'after',
    statement: ({ token }, { text, transaction }) =>
      isCommit(text) && transaction.includes('insert into "signals"') && transaction.includes(token),
  },
  { name: 'P3-answered', at: 'answered' },
  {
    name: 'P4-claimed',
    at: 'after',
    statement: ({ workflowId }, { text }) => text.includes('insert into leases') && has(text, workflowId),
  },
  {
    name: 'P5-users-selected',
    at: 'after',
    statement: ({ workflowId }, { text, transaction }) =>
      isCommit(text) && transaction.includes('insert into "workflow_users"') && has(transaction, workflowId),
  },
  { name: 'P6-account-prepared', at: 'after', call: 'set-leverage' },
  {
    name: 'P7-intent-committed',
    at: 'after',
    statement: ({ token }, { text, transaction }) =>
      isCommit(text) && transaction.includes('insert into "trades"') && transaction.includes(token),
  },
  { name: 'P8-not-sent', at: 'before', call: 'place-order' },
  { name: 'P9-accepted', at: 'after', call: 'place-order' },
  {
    name: 'P10-answer-not-stored',
    at: 'before',
    statement: ({ tradeId }, { text }) =>
      has(text, tradeId) && /accepted by|refused by|outcome is not known|will be sent again/.test(text),
  },
  { name: 'P11-looked-up', at: 'coin', call: 'find-order' },
  { name: 'P12-protection-read', at: 'coin', call: 'protection' },
];

export interface Fault {
  name: string;
  exchange?: VenueFault[];
  /** Loses the answer to one of the trade's commits. */
  cutsCommit?: boolean;
  switchesOff?: boolean;
}

export const FAULTS: Fault[] = [
  { name: 'none' },
  { name: 'cut-after-accept', exchange: [{ kind: 'cutAfterAccept', on: { operation: 'place-order' } }] },
  { name: 'no-answer', exchange: [{ kind: 'acceptThenTimeout', on: { operation: 'place-order' } }] },
  { name: 'empty-200', exchange: [{ kind: 'empty200', on: { operation: 'place-order' } }] },
  { name: 'partial-fill', exchange: [{ kind: 'partialFill', fraction: '0.5' }] },
  { name: 'cancel-loses', exchange: [{ kind: 'restFirst' }, { kind: 'cancelLosesToFill' }] },
  { name: 'stop-dropped', exchange: [{ kind: 'stopDropped' }] },
  {
    name: 'look-up-down',
    exchange: [{ kind: 'badGatewayBefore', on: { operation: 'find-order', times: 3 } }],
  },
  { name: 'commit-cut', cutsCommit: true },
  { name: 'switched-off', switchesOff: true },
];

/** Never strikes; reads the ids of the alert's workflow and trade from the wire. */
export function observer(target: Target): StatementTrap {
  return {
    at: 'after',
    strike: () => {},
    matches({ text, transaction }) {
      if (text.includes('insert into "workflows"') && transaction.includes(target.token)) {
        target.workflowId ??= text.match(UUID)?.[0] ?? null;
      }
      if (text.includes('insert into "trades"') && text.includes(target.token)) {
        target.tradeId ??= text.match(UUID)?.[0] ?? null;
      }
      return false;
    },
  };
}

export function commitCut(target: Target, nth: number): StatementTrap {
  let seen = 0;
  return {
    at: 'after',
    strike: () => {},
    matches({ text, transaction }) {
      if (!isCommit(text)) return false;
      if (!has(transaction, target.workflowId) && !has(transaction, target.tradeId)) return false;
      seen += 1;
      return seen === nth;
    },
  };
}

export function callTrap(
  point: Extract<Point, { call: VenueOperation }>,
  target: Target,
  strike: () => void,
): CallTrap {
  const at = point.at === 'coin' ? (target.coin ? 'before' : 'after') : point.at;
  return {
    at,
    strike,
    matches({ operations, accountId }: SeenCall) {
      if (accountId !== target.accountId) return false;
      // Bybit reads protection and position with one call, which also happens before the order.
      if (operations.includes('place-order')) target.isPlaced = true;
      return operations.includes(point.call) && (point.call !== 'protection' || target.isPlaced);
    },
  };
}
