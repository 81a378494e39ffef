import type { Db } from '#server/platform/db/database.ts';

/**
 * In which order the users of a workflow get their orders: a user who was sized here waits for earlier users who are
 * being sized here, and the database is asked about the others. An order or outcome is final, so what was found once
 * holds.
 */
interface OrderTurns {
  /** This user is being sized from here on. */
  enter(task: Turn): void;
  /** This user has an order or an outcome, or the try is over. */
  leave(task: Turn, end: { isSettled: boolean }): void;
  /** Resolves when no earlier user is being sized here any more, or after this time. */
  whenFirstHere(task: Turn, withinMs: number): Promise<void>;
  /** Whether all users before this one are known to have an order or an outcome. */
  isNext(task: Turn): boolean;
  /** The database says that they have. */
  noteNext(task: Turn): void;
}

interface Turn {
  workflowId: string;
  /** The user's place in the order of trading, from 0. */
  position: number;
}

interface Order {
  /** Everybody before this place has an order or an outcome. */
  settledBefore: number;
  settled: Set<number>;
  here: Set<number>;
  waiting: Set<{ position: number; wake: () => void }>;
}

const turns = new WeakMap<Db, OrderTurns>();

/** Those of this instance. */
export function orderTurnsOf(db: Db): OrderTurns {
  const known = turns.get(db) ?? createOrderTurns();
  turns.set(db, known);
  return known;
}

/** Only for workflows whose users are being sized here. */
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
