import type { ApplyExitPlanAnswer } from '#contract/exit-plans.ts';
import { toPlain } from '#domain/decimal.ts';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import type { PlannedExits } from '#domain/exits/plan-exits.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { Deps } from '#server/deps.ts';
import { findExitPlan, type PlanScope } from '#server/engine/exits/exit-plans.store.ts';
import { planPositionExits } from '#server/engine/exits/plan-position.ts';
import { listScopeTrades, replaceTradeExits } from '#server/engine/exits/trade-exits.store.ts';
import { asExchangeError, ExchangeError } from '#server/exchanges/exchange.ts';
import type { AuditRecord } from '#server/platform/audit/audit-trail.ts';
import { AppError } from '#server/platform/http/errors.ts';

type ScopeTrade = Awaited<ReturnType<typeof listScopeTrades>>[number];
type Outcome = { exits: PlannedExits; skipped: null } | { exits: null; skipped: string };

/**
 * Gives the open positions of a scope the plan that the scope has now, with the prices of their entries and for what is
 * still open of them; or only tells what that would be. The positions of a user with a plan of their own follow that, not
 * the strategy's. Throws 400 when the scope has no plan.
 */
export async function applyExitPlan(
  deps: Pick<Deps, 'audit' | 'config' | 'db' | 'exchanges'>,
  { scope, preview, audit }: { scope: PlanScope; preview: boolean; audit: Omit<AuditRecord, 'action'> },
): Promise<ApplyExitPlanAnswer> {
  const { db, config } = deps;
  const plan = await findExitPlan(db, scope);
  if (plan === null) {
    const message = 'There is no exit plan to apply: save one first';
    throw new AppError('badRequest', { message, errors: [{ path: 'scope', message }] });
  }
  const trades = await listScopeTrades(db, { mode: config.exchangeMode, scope });
  const outcomes = await Promise.all(
    trades.map(async (one) => ({ ...one, ...(await outcomeOf(deps, { one, scope, plan })) })),
  );
  const meant = outcomes.filter(({ skipped }) => skipped === null);
  if (!preview) {
    const { kind: scopeKind, value: scopeValue } = scope;
    await db.transaction(async (tx) => {
      for (const { trade } of meant) {
        await replaceTradeExits(tx, { tradeId: trade.id, plan, scopeKind, scopeValue });
      }
      const after = {
        positions: meant.length,
        trades: meant.map(({ trade }) => trade.id).slice(0, MOST_NAMED),
      };
      await deps.audit.record(tx, { ...audit, action: 'exit plan applied', after });
    });
  }
  return {
    preview,
    applied: meant.length,
    skipped: outcomes.length - meant.length,
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

/** An entry of the audit trail stays readable. */
const MOST_NAMED = 100;

async function outcomeOf(
  deps: Pick<Deps, 'db' | 'exchanges'>,
  { one, scope, plan }: { one: ScopeTrade; scope: PlanScope; plan: ExitPlan },
): Promise<Outcome> {
  const { trade } = one;
  const own =
    scope.kind === 'strategy' && (await findExitPlan(deps.db, { kind: 'user', value: trade.userId }));
  if (own) return skip('the user has a plan of their own');
  const exits = await planPositionExits(deps, { trade, plan }).catch(asExchangeError);
  if (exits instanceof ExchangeError) return skip(exits.message);
  if (exits === null) return skip(`${trade.exchangePlatform} lists no contract for ${trade.token}`);
  return { exits, skipped: null };
}

const skip = (skipped: string): Outcome => ({ exits: null, skipped });
