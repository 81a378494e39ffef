import { and, asc, eq, inArray } from 'drizzle-orm';
import { D, type Decimal } from '#domain/decimal.ts';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { UNKNOWN_QUANTITY } from '#server/engine/exits/close-by-plan.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import { paperFills, paperOrders } from '#server/exchanges/paper/paper-schema.ts';
import {
  closedPositions,
  noticeEvents,
  positionCloses,
  protectionMoves,
  tradeExits,
  trades,
} from '#server/platform/db/schema.ts';
import type { TestEngine } from '../app/test-engine.ts';
import type { ExitSignal } from './exits.ts';

/** Exchanges round profits and fees. */
const FIGURE_TOLERANCE = '1e-6';

export interface ExitsEnd {
  violations: string[];
  /** What came of it, for the table. */
  word: string;
  /** The parts that must not depend on other users. */
  summary: string;
}

interface Fill {
  clientOrderId: string;
  reduceOnly: boolean;
  /** Positive: bought. */
  signed: Decimal;
  size: Decimal;
  profit: Decimal;
  fee: Decimal;
  /** What was open before and after it; negative: short. */
  before: Decimal;
  after: Decimal;
}

/** A position from its first fill to its last. */
interface Life {
  quantity: Decimal;
  profit: Decimal;
  fees: Decimal;
}

/**
 * Judges what came after a user's entry by the ledger alone: nothing is closed beyond what is open, nor by more than a
 * signal or a plan says, and every figure that was told equals the fills.
 */
export async function judgeExits(
  engine: TestEngine,
  run: { token: string; exits: ExitSignal[]; isApart: boolean },
  userId: string,
): Promise<ExitsEnd> {
  const { token, exits, isApart } = run;
  const violations: string[] = [];
  const claims = (claim: string, holds: boolean) => {
    if (!holds) violations.push(claim);
  };
  const fills = await readFills(engine, { userId, token });
  const entered = sum(fills.filter(({ reduceOnly }) => !reduceOnly));
  const reduced = sum(fills.filter(({ reduceOnly }) => reduceOnly));
  claims(`over-closed: ${reduced} closed of ${entered}`, reduced.lte(entered));
  for (const fill of fills.filter(({ reduceOnly }) => reduceOnly)) {
    const reverses = fill.before.times(fill.signed).gte(0) || fill.signed.abs().gt(fill.before.abs());
    claims(`reversed: a close of ${fill.signed} with ${fill.before} open`, !reverses);
  }

  const closes = await engine.db
    .select()
    .from(positionCloses)
    .where(and(eq(positionCloses.userId, userId), eq(positionCloses.token, token)))
    .orderBy(asc(positionCloses.id));
  const fillsOf = (which: (close: (typeof closes)[number]) => boolean) => {
    const ids = new Set(closes.filter(which).map(({ clientOrderId }) => clientOrderId));
    return fills.filter(({ clientOrderId }) => ids.has(clientOrderId));
  };
  const words = new Set<string>();
  const summary: string[] = [];

  for (const { workflowId, percent } of exits) {
    const own = fillsOf((close) => close.workflowId === workflowId);
    const closed = sum(own);
    const row = (await engine.outcomes(workflowId)).get(userId);
    const step = (await engine.steps(workflowId)).find(
      (one) => one.userId === userId && one.stepType === 'order_submission',
    );
    summary.push(`${row?.outcome} ${closed}`);
    const [first] = own;
    const last = own.at(-1);
    if (first !== undefined && last !== undefined) {
      const most = first.before.abs().times(percent).div(100);
      claims(
        `over-closed: ${closed} for ${percent} % of ${first.before.abs()}`,
        closed.lte(most.plus('1e-12')),
      );
    }
    if (row?.outcome !== 'success') {
      words.add(closed.gt(0) ? 'partly closed' : (row?.outcome ?? 'nothing open'));
      continue;
    }
    words.add(percent === 100 ? 'closed' : 'reduced');
    const told = (step?.outputData ?? {}) as { closed?: string | null; left?: string };
    // Null: it is said that the figure is not known.
    claims(
      `I7: told ${told.closed} closed, the ledger has ${closed}`,
      told.closed === null || D(told.closed ?? 0).eq(closed),
    );
    if (last !== undefined) {
      claims(
        `I7: told ${told.left} left, the ledger had ${last.after.abs()}`,
        D(told.left ?? 0).eq(last.after.abs()),
      );
    }
  }

  const own = await engine.db
    .select({ trade: trades, exits: tradeExits })
    .from(trades)
    .leftJoin(tradeExits, eq(tradeExits.tradeId, trades.id))
    .where(and(eq(trades.userId, userId), eq(trades.token, token)))
    .orderBy(asc(trades.createdAt), asc(trades.id));
  const tradeIds = own.map(({ trade }) => trade.id);
  const notices = tradeIds.length === 0 ? [] : await readNotices(engine, tradeIds);
  const moves =
    tradeIds.length === 0
      ? []
      : await engine.db.select().from(protectionMoves).where(inArray(protectionMoves.tradeId, tradeIds));
  for (const { trade, exits: plan } of own) {
    if (plan === null) continue;
    const told = notices.filter((notice) => notice.tradeId === trade.id);
    const byPlan = fillsOf((close) => close.tradeId === trade.id && close.workflowId === null);
    const [first] = byPlan;
    const closed = sum(byPlan);
    const part = plan.plan.takeProfits[0];
    const parts = told.filter(({ code }) => code === 'exit_part_closed');
    const ends = told.filter(({ code }) => code === 'exit_time_closed');
    claims(`a part was told ${parts.length} times`, parts.length <= 1);
    claims(`an end was told ${ends.length} times`, ends.length <= 1);
    if (first !== undefined && part !== undefined) {
      const { minimumQuantity } = paperContract(token, platformOf(trade.exchangePlatform));
      const most = first.before.abs().times(part.percent).div(100);
      const isRestTooSmall = first.before.abs().minus(most).lt(D(minimumQuantity).times(2));
      const isMerged = isRestTooSmall && byPlan.at(-1)?.after.isZero() === true;
      claims(
        `over-closed: ${closed} for a part of ${part.percent} % of ${first.before.abs()}`,
        closed.lte(most.plus('1e-12')) || isMerged,
      );
    }
    claims(`I7: ${plan.partsDone} parts done, ${parts.length} told`, plan.partsDone === parts.length);
    for (const { code, data } of [...parts, ...ends]) {
      claims(
        `I7: ${code} told ${data?.quantity}, the ledger has ${closed}`,
        data?.quantity === UNKNOWN_QUANTITY || D(data?.quantity ?? 0).eq(closed),
      );
    }
    const moved = moves.filter(({ tradeId, state }) => tradeId === trade.id && state === 'moved').length;
    summary.push(`${closed} by plan, ${moved} moves`);
    if (parts.length > 0) words.add('part closed');
    if (ends.length > 0) words.add('time over');
    if (moved > 0) words.add('moved');
  }

  await judgeRecords(engine, { userId, token, fills, isApart, claims });
  const word = words.size > 0 ? [...words].join(' and ') : entered.isZero() ? 'nothing open' : 'nothing due';
  return { violations, word, summary: summary.join('; ') };
}

const platformOf = (name: string) => EXCHANGE_PLATFORMS.find((one) => one === name);

const sum = (fills: readonly Fill[]): Decimal => fills.reduce((total, { size }) => total.plus(size), D(0));

async function readFills(
  { db }: TestEngine,
  { userId, token }: { userId: string; token: string },
): Promise<Fill[]> {
  const rows = await db
    .select({ fill: paperFills, order: paperOrders })
    .from(paperFills)
    .innerJoin(paperOrders, eq(paperOrders.id, paperFills.orderId))
    .where(and(eq(paperFills.userId, userId), eq(paperFills.token, token)))
    .orderBy(asc(paperFills.id));
  let open = D(0);
  return rows.map(({ fill, order }) => {
    const signed = D(fill.size).times(fill.side === 'buy' ? 1 : -1);
    const before = open;
    open = open.plus(signed);
    const { clientOrderId, reduceOnly } = order;
    const { size, profit, fee } = fill;
    return {
      clientOrderId,
      reduceOnly,
      signed,
      size: D(size),
      profit: D(profit),
      fee: D(fee),
      before,
      after: open,
    };
  });
}

const readNotices = ({ db }: TestEngine, tradeIds: string[]) =>
  db.select().from(noticeEvents).where(inArray(noticeEvents.tradeId, tradeIds)).orderBy(asc(noticeEvents.id));

/** Recorded positions against the ledger's: quantity, profit and fees. */
async function judgeRecords(
  { db }: TestEngine,
  of: {
    userId: string;
    token: string;
    fills: readonly Fill[];
    isApart: boolean;
    claims: (claim: string, holds: boolean) => void;
  },
): Promise<void> {
  const { userId, token, fills, isApart, claims } = of;
  const lives: Life[] = [];
  let life: Life = { quantity: D(0), profit: D(0), fees: D(0) };
  for (const { before, signed, size, profit, fee, after } of fills) {
    const opens = before.times(signed).gte(0);
    life = {
      quantity: opens ? life.quantity.plus(size) : life.quantity,
      profit: life.profit.plus(profit),
      fees: life.fees.plus(fee),
    };
    if (!after.isZero()) continue;
    lives.push(life);
    life = { quantity: D(0), profit: D(0), fees: D(0) };
  }
  const recorded = await db
    .select()
    .from(closedPositions)
    .where(and(eq(closedPositions.userId, userId), eq(closedPositions.token, token)))
    .orderBy(asc(closedPositions.id));
  const isNear = (one: Decimal, other: string | null) =>
    one
      .minus(other ?? 0)
      .abs()
      .lte(D(FIGURE_TOLERANCE).times(one.abs().plus(1)));
  const left = [...lives];
  for (const row of recorded) {
    if (row.exchangePositionId === null) {
      claims('I7: the end of a position is not known', isApart);
      continue;
    }
    const found = left.findIndex(
      (one) =>
        isNear(one.quantity, row.quantity) &&
        isNear(one.profit, row.realisedProfit) &&
        isNear(one.fees, row.fees),
    );
    claims(
      `I7: recorded ${row.quantity} with a profit of ${row.realisedProfit} and fees of ${row.fees}, the ledger has ` +
        left.map((one) => `${one.quantity}, ${one.profit}, ${one.fees}`).join(' or '),
      found >= 0,
    );
    if (found >= 0) left.splice(found, 1);
  }
  claims(
    `I7: ${lives.length} positions ended, ${recorded.length} recorded`,
    lives.length === recorded.length,
  );
}

/** Lines for the story of a run. */
export async function exitStory(
  engine: TestEngine,
  run: { token: string; exits: ExitSignal[] },
  userId: string,
): Promise<string[]> {
  const lines: string[] = [];
  for (const [index, { workflowId, percent }] of run.exits.entries()) {
    const row = (await engine.outcomes(workflowId)).get(userId);
    const steps = (await engine.steps(workflowId)).filter((one) => one.userId === userId);
    const output = steps.findLast(({ outputData }) => outputData !== null)?.outputData;
    lines.push(
      `exit signal ${index + 1} (${percent} %): ${row?.outcome} ${row?.reason ?? ''} ${JSON.stringify(output)}`,
    );
  }
  const closes = await engine.db
    .select()
    .from(positionCloses)
    .where(eq(positionCloses.userId, userId))
    .orderBy(asc(positionCloses.id));
  for (const { clientOrderId, quantity, keepQuantity, leftQuantity, state, reason, error } of closes) {
    lines.push(
      `close ${clientOrderId}: ${quantity}, keep ${keepQuantity}, left ${leftQuantity}, ${state}, ${reason}, ${error}`,
    );
  }
  for (const { clientOrderId, reduceOnly, signed, after } of await readFills(engine, {
    userId,
    token: run.token,
  })) {
    lines.push(`fill ${clientOrderId}${reduceOnly ? ' (reduces)' : ''}: ${signed}, then ${after}`);
  }
  return lines;
}
