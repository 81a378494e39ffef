import type { ApplyExitPlanAnswer } from '#contract/exit-plans.ts';
import { toPlain } from '#domain/decimal.ts';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import type { PlannedExits } from '#domain/exits/plan-exits.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { Deps } from '#server/deps.ts';
import { findExitPlan, type PlanScope } from '#server/engine/exits/exit-plans.store.ts';
import { planPositionExits } from '#server/engine/exits/plan-position.ts';
import { listScopeTrades, replaceTradeExits } from '#server/engine/exits/trade-exits.store.ts';
import type { TradeRow } from '#server/engine/records/trades.store.ts';
import { asExchangeError, ExchangeError } from '#server/exchanges/exchange.ts';
import type { AuditRecord } from '#server/platform/audit/audit-trail.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { acquireLeases, findHeld, findTaken, releaseLeases } from '#server/platform/jobs/leases.ts';

type ApplyDeps = Pick<Deps, 'accountGuard' | 'audit' | 'config' | 'db' | 'exchanges' | 'findAccount'>;
type Outcome = { exits: PlannedExits; skipped: null } | { exits: null; skipped: string };
type Told = { trade: TradeRow; username: string } & Outcome;

/**
 * Gives the open positions of a scope the plan that the scope has now, with the prices of their entries and for what is
 * still open of them; or only tells what that would be. The positions of a user with a plan of their own follow that, not
 * the strategy's. Those of a user with an order or a close under way stay as they are: how much will be open is not known.
 * Throws 400 when the scope has no plan.
 */
export async function applyExitPlan(
  deps: ApplyDeps,
  { scope, preview, audit }: { scope: PlanScope; preview: boolean; audit: Omit<AuditRecord, 'action'> },
): Promise<ApplyExitPlanAnswer> {
  const { db, config } = deps;
  const plan = await findExitPlan(db, scope);
  if (plan === null) {
    const message = 'There is no exit plan to apply: save one first';
    throw new AppError('badRequest', { message, errors: [{ path: 'scope', message }] });
  }
  const trades = await listScopeTrades(db, { mode: config.exchangeMode, scope });
  const taken = await findTaken(db, trades.map(keyOf));
  const told = await Promise.all(
    trades.map(async ({ trade, username }) => {
      const outcome = taken.has(keyOf({ trade })) ? BUSY : await outcomeOf(deps, { trade, scope, plan });
      return { trade, username, ...outcome };
    }),
  );
  const outcomes = preview ? told : await replacePlans(deps, { told, scope, plan, audit });
  const applied = outcomes.filter(({ skipped }) => skipped === null).length;
  return {
    preview,
    applied,
    skipped: outcomes.length - applied,
    positions: outcomes.map(({ trade, username, exits, skipped }) => ({
      tradeId: trade.id,
      userId: trade.userId,
      username,
      exchangePlatform: trade.exchangePlatform,
      token: trade.token,
      side: sideOpenedBy(trade.side),
      entryPrice: toPlain(trade.averagePrice ?? trade.entryPrice),
      exits,
      skipped,
    })),
  };
}

/** Under the leases of the users, for a moment: what has begun to close since stays as it is. */
async function replacePlans(
  deps: ApplyDeps,
  {
    told,
    scope: { kind: scopeKind, value: scopeValue },
    plan,
    audit,
  }: {
    told: readonly Told[];
    scope: PlanScope;
    plan: ExitPlan;
    audit: Omit<AuditRecord, 'action'>;
  },
): Promise<Told[]> {
  const { db, config } = deps;
  const keys = [...new Set(told.filter(({ skipped }) => skipped === null).map(keyOf))];
  const leases = await acquireLeases({ db, keys, holder: `${config.instanceId} exit plan` });
  try {
    return await db.transaction(async (tx) => {
      const held = await findHeld(tx, leases);
      const outcomes = told.map((one) =>
        one.skipped === null && !held.has(keyOf(one)) ? { ...one, ...BUSY } : one,
      );
      const meant = outcomes.filter(({ skipped }) => skipped === null);
      for (const { trade } of meant) {
        await replaceTradeExits(tx, { tradeId: trade.id, plan, scopeKind, scopeValue });
      }
      const after = {
        positions: meant.length,
        trades: meant.map(({ trade }) => trade.id).slice(0, MOST_NAMED),
      };
      await deps.audit.record(tx, { ...audit, action: 'exit plan applied', after });
      return outcomes;
    });
  } finally {
    // One that cannot be released expires.
    await releaseLeases(db, leases).catch(() => undefined);
  }
}

const keyOf = ({ trade }: Pick<Told, 'trade'>) => `user:${trade.userId}`;

/** An entry of the audit trail stays readable. */
const MOST_NAMED = 100;

async function outcomeOf(
  deps: ApplyDeps,
  { trade, scope, plan }: { trade: TradeRow; scope: PlanScope; plan: ExitPlan },
): Promise<Outcome> {
  const own =
    scope.kind === 'strategy' && (await findExitPlan(deps.db, { kind: 'user', value: trade.userId }));
  if (own) return skip('the user has a plan of their own');
  const exits = await planPositionExits(deps, { trade, plan }).catch(asExchangeError);
  if (exits instanceof ExchangeError) return skip(exits.message);
  if (exits === null) return skip(`${trade.exchangePlatform} shows no such position`);
  return { exits, skipped: null };
}

const skip = (skipped: string): Outcome => ({ exits: null, skipped });
const BUSY = skip('an order or a close of the user is under way, apply the plan when it has ended');
