import { D, toPlain } from '#domain/decimal.ts';
import { ExchangeError } from '../exchange.ts';
import type { CcxtConnection } from './connection.ts';
import type { CcxtClient, ProtectionChange, ProtectionDialect, ProtectionPlan } from './dialect.ts';
import { type PlacementRequest, requireExactPrice } from './placement.ts';

type ChangingOrders = Pick<Extract<ProtectionDialect, { heldBy: 'orders' }>, 'list' | 'planOf'> & {
  modify(client: CcxtClient, info: unknown, change: ProtectionChange): Promise<unknown>;
};

/**
 * Moves the stop or the target where an exchange changes its price in place: the same order holds it at every moment
 * (I4). Only what is read back counts. One that is missing is placed.
 */
export async function changePlans(options: {
  connection: CcxtConnection;
  platform: string;
  orders: ChangingOrders;
  request: PlacementRequest;
  token: string;
  change: ProtectionChange;
  /** The size of the position. */
  quantity: string;
  place: () => Promise<void>;
}): Promise<void> {
  const { connection, platform, orders, request, token, change, quantity } = options;
  const { side, triggerPrice } = change;

  async function readPlans() {
    const { account, context } = request;
    const infos = await connection.callForToken({ type: 'protection', account, context }, token, orders.list);
    return infos.flatMap((info) => {
      const plan = orders.planOf(info);
      return plan?.side === side ? [{ ...plan, info }] : [];
    });
  }

  const isMoved = (plan: ProtectionPlan) =>
    plan.triggerPrice !== null && D(plan.triggerPrice).eq(triggerPrice);

  const present = await readPlans();
  const others = present.filter((plan) => !isMoved(plan));
  if (present.length === 0) await options.place();
  for (const { info } of others) {
    await connection.callForToken(request, token, (client, symbol) => {
      requireExactPrice(client, symbol, { name: side, value: triggerPrice });
      return orders.modify(client, info, change);
    });
  }
  const found = present.length === 0 || others.length > 0 ? await readPlans() : present;
  if (found.every(isMoved) && isCovering(found, quantity)) return;
  const shown = found.map((plan) => `${plan.triggerPrice} for ${plan.quantity ?? 'the position'}`).join(', ');
  const name = side === 'stopLoss' ? 'stop loss' : 'take profit';
  throw new ExchangeError(
    'unknown',
    `${platform} does not show the ${name} at ${triggerPrice} for ${toPlain(quantity)} yet: ${shown || 'none'}`,
  );
}

const isCovering = (plans: ProtectionPlan[], quantity: string): boolean =>
  plans.some((plan) => plan.quantity === null) ||
  plans.reduce((sum, plan) => sum.plus(plan.quantity ?? 0), D(0)).gte(quantity);
