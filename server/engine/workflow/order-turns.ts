import type { Db } from '#server/platform/db/database.ts';

/**
 * The order in which users of a workflow get their orders. A user who was sized in this instance waits for earlier users
 * being sized in it; the database is asked about the rest. An order or outcome is final, so a finding stays valid.
 */
interface OrderTurns {
  /** Sizing of this user begins. */
  enter(task: Turn): void;
  /** This user has an order or an outcome, or the try is over. */
  leave(task: Turn, end: { isSettled: boolean }): void;
  /** Resolves when no earlier user is being sized in this instance, or after this time. */
  whenFirstHere(task: Turn, withinMs: number): Promise<void>;
  /** Whether all earlier users are known to have an order or an outcome. */
  isNext(task: Turn): boolean;
  /** Records that the database reports an order or outcome for all earlier users. */
  noteNext(task: Turn): void;
}

interface Turn {
  workflowId: string;
  /** The user's place in the order of trading, from 0. */
  position: number;
}

interface Order {
  /** All users before this place have an order or an outcome. */
  settledBefore: number;
  settled: Set<number>;
  here: Set<number>;
  waiting: Set<{ position: number; wake: () => void }>;
}

const turns = new WeakMap<Db, OrderTurns>();

/** The turns of this instance. */
export function orderTurnsOf(db: Db): OrderTurns {
  const known = turns.get(db) ?? createOrderTurns();
  turns.set(db, known);
  return known;
}

/** Keeps state only for workflows with users being sized in this instance. */
export function createOrderTurns(): OrderTurns {
  const orders = new Map<string, Order>();

  function isFirstHere({ here }: Order, position: number): boolean {
    for (const other of here) if (other < position) return false;
    return true;
  }

  function advance(order: Order): void {
    while (order.settled.delete(order.settledBefore)) order.settledBefore += 1;
    for (const one of order.waiting) if (isFirstHere(order, one.position)) one.wake();
  }

  return {
    enter({ workflowId, position }) {
      const order = orders.get(workflowId) ?? {
        settledBefore: 0,
        settled: new Set(),
        here: new Set(),
        waiting: new Set(),
      };
      orders.set(workflowId, order);
      order.here.add(position);
    },
    leave({ workflowId, position }, { isSettled }) {
      const order = orders.get(workflowId);
      if (order === undefined) return;
      order.here.delete(position);
      if (isSettled && position >= order.settledBefore) order.settled.add(position);
      advance(order);
      if (order.here.size === 0) orders.delete(workflowId);
    },
    async whenFirstHere({ workflowId, position }, withinMs) {
      const order = orders.get(workflowId);
      if (order === undefined || isFirstHere(order, position)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const one = { position, wake: resolve };
      const limit = setTimeout(resolve, withinMs);
      order.waiting.add(one);
      await promise;
      order.waiting.delete(one);
      clearTimeout(limit);
    },
    isNext: ({ workflowId, position }) => position <= (orders.get(workflowId)?.settledBefore ?? 0),
    noteNext({ workflowId, position }) {
      const order = orders.get(workflowId);
      if (order === undefined || position <= order.settledBefore) return;
      order.settledBefore = position;
      for (const place of order.settled) if (place < position) order.settled.delete(place);
      advance(order);
    },
  };
}
