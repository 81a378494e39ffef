import { and, desc, eq, gte, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Activity } from '#contract/overview.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { actionName } from '#domain/exits/signal-action.ts';
import type { ClosedBy } from '#domain/orders/closed-by.ts';
import { isWorkflowEnded } from '#domain/workflow/workflow-lifecycle.ts';
import type { WorkflowOutcome } from '#domain/workflow/workflow-outcome.ts';
import { withWorkflowOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import type { Db } from '#server/platform/db/database.ts';
import {
  closedPositions,
  signals,
  trades,
  tradingHalts,
  users,
  workflows,
} from '#server/platform/db/schema.ts';

interface ActivityFilter {
  /** Null: everybody's. */
  userId: string | null;
  since: Date;
  limit: number;
}

/** What happened lately, in sentences, newest first. Signals are told to administrators, opened positions where no signal tells them. */
export async function listActivity(db: Db, filter: ActivityFilter): Promise<Activity[]> {
  const lists = await Promise.all([
    listClosed(db, filter),
    listOpened(db, filter),
    filter.userId === null ? listSignals(db, filter) : [],
    listHalts(db, filter),
  ]);
  return lists
    .flat()
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.id < b.id ? 1 : -1))
    .slice(0, filter.limit);
}

const HOW: Readonly<Record<ClosedBy, string>> = {
  'stop loss': ' at its stop',
  'take profit': ' at its target',
  operator: ' by hand',
  reversal: ' for a reversal',
  signal: ' by a signal',
  'exit plan': ' by its exit plan',
  protection: ' because it had no stop',
  liquidation: ' by liquidation',
  unknown: '',
};

const direction = (side: 'long' | 'short' | 'buy' | 'sell') =>
  side === 'long' || side === 'buy' ? 'Long' : 'Short';

async function listClosed(db: Db, { userId, since, limit }: ActivityFilter): Promise<Activity[]> {
  const rows = await db
    .select({ closed: closedPositions, username: users.username })
    .from(closedPositions)
    .innerJoin(users, eq(users.id, closedPositions.userId))
    .where(
      and(
        gte(closedPositions.closedAt, since),
        userId === null ? undefined : eq(closedPositions.userId, userId),
      ),
    )
    .orderBy(desc(closedPositions.closedAt), desc(closedPositions.id))
    .limit(limit);
  return rows.map(({ closed, username }) => {
    const { id, closedAt, token, side, closedBy, realisedProfit, fees } = closed;
    const amount = realisedProfit === null ? null : toPlain(D(realisedProfit).minus(fees ?? '0'));
    const result = amount === null ? ', the result is not known yet' : ', net';
    const text = `closed ${token} ${direction(side)}${HOW[closedBy]}${result}`;
    return { id, at: closedAt.toISOString(), kind: 'closed', who: username, text, amount };
  });
}

async function listOpened(db: Db, { userId, since, limit }: ActivityFilter): Promise<Activity[]> {
  const rows = await db
    .select({ trade: trades, username: users.username })
    .from(trades)
    .innerJoin(users, eq(users.id, trades.userId))
    .where(
      and(
        gte(trades.createdAt, since),
        sql`${trades.fillStatus} in ('filled', 'partial')`,
        // An order of a workflow is part of what its signal came to.
        userId === null ? isNull(trades.workflowId) : eq(trades.userId, userId),
      ),
    )
    .orderBy(desc(trades.createdAt), desc(trades.id))
    .limit(limit);
  return rows.map(({ trade, username }) => {
    const { id, completedAt, createdAt, token, side, averagePrice, entryPrice } = trade;
    const text = `opened ${token} ${direction(side)} at ${averagePrice ?? entryPrice}`;
    const at = (completedAt ?? createdAt).toISOString();
    return { id, at, kind: 'opened', who: username, text, amount: null };
  });
}

async function listSignals(db: Db, { since, limit }: ActivityFilter): Promise<Activity[]> {
  const rows = await db
    .select({ workflow: workflows, action: signals.action })
    .from(workflows)
    .innerJoin(signals, eq(signals.id, workflows.signalId))
    .where(gte(workflows.createdAt, since))
    .orderBy(desc(workflows.createdAt), desc(workflows.id))
    .limit(limit);
  const shown = await withWorkflowOutcomes(
    db,
    rows.map(({ workflow, action }) => ({ ...workflow, action })),
  );
  return shown.map(({ id, completedAt, createdAt, token, action, processor, status, outcome }) => ({
    id,
    at: (completedAt ?? createdAt).toISOString(),
    kind: 'signal',
    who: `${token} ${actionName(action)}`,
    text: `from ${processor} ${isWorkflowEnded(status) ? describeOutcome(outcome) : 'is being traded'}`,
    amount: null,
  }));
}

function describeOutcome({ kind, filled, failed, skipped, topReason }: WorkflowOutcome): string {
  const users = filled + failed + skipped;
  const why = topReason === null ? '' : `: ${topReason}`;
  switch (kind) {
    case 'filled':
    case 'partial':
      return `filled for ${filled} of ${users} ${users === 1 ? 'user' : 'users'}`;
    case 'not_filled':
      return `filled nobody${why}`;
    case 'skipped':
      return `was traded for nobody${why}`;
    default:
      return `was not traded${why}`;
  }
}

async function listHalts(db: Db, { userId, since, limit }: ActivityFilter): Promise<Activity[]> {
  const ofUser = userId === null ? undefined : eq(tradingHalts.userId, userId);
  const read = (when: typeof tradingHalts.since | typeof tradingHalts.endedAt) =>
    db
      .select({ halt: tradingHalts, username: users.username })
      .from(tradingHalts)
      .innerJoin(users, eq(users.id, tradingHalts.userId))
      .where(and(isNotNull(when), gte(when, since), ofUser))
      .orderBy(desc(when))
      .limit(limit);
  const [begun, ended] = await Promise.all([read(tradingHalts.since), read(tradingHalts.endedAt)]);
  return [
    ...begun.map(({ halt, username }) => ({
      id: halt.id,
      at: halt.since.toISOString(),
      kind: 'halted' as const,
      who: username,
      text: `was halted: ${halt.reason}`,
      amount: null,
    })),
    ...ended.map(({ halt, username }) => ({
      id: `${halt.id} end`,
      at: halt.endedAt?.toISOString() ?? '',
      kind: 'resumed' as const,
      who: username,
      text: `trades again after a halt in ${halt.token}`,
      amount: null,
    })),
  ];
}
