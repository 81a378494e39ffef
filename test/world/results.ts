import { randomUUID } from 'node:crypto';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import { recordClosedPosition, recordGone } from '#server/engine/protection/positions.store.ts';
import { closedPositions, positionGeneratorLogs, signals, trades } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import {
  asReported,
  decimalOf,
  type GeneratedTrade,
  generateTrades,
  randomOf,
} from '../app/generated-trades.ts';
import type { ReckonedOrder, ReckonedTrade } from '../app/reckon-results.ts';
import { startWorld, type WorldOptions } from '../world.ts';

const METHODS = ['Risk Management', 'Portfolio Allocation', 'Technical Analysis'];
/** Of every tenth trade's signal there is another order; of these only a partly filled one counts as filled. */
const OTHER_ENDS = ['unfilled', 'partial', 'unknown', 'unfilled'] as const;
const BATCH = 500;

/** A world with closed trades of three users, and what is known about each trade and order without the database. */
export async function startWorldWithResults(
  options: WorldOptions & { trades: number; seed: number; since: Date },
) {
  const world = await startWorld(options);
  const { db } = world.deps;
  const users = [await world.createUser(), await world.createUser(), await world.createUser()];
  const random = randomOf(options.seed + 1);
  const known: ReckonedTrade[] = [];
  const orders: ReckonedOrder[] = [];
  const rows: (typeof closedPositions.$inferInsert)[] = [];

  for (const [index, generated] of generateTrades(options.trades, options.seed, options.since).entries()) {
    const { user, username } = users[random(users.length)] ?? {};
    if (user === undefined || username === undefined) throw new Error('no user');
    const plan = {
      processor: ['Tesla', 'UD Bot'][random(2)] ?? 'Tesla',
      timeframe: ['15', '60', '240'][random(3)] ?? '15',
      sizingMethod: METHODS[random(3)] ?? 'Risk Management',
      signal: generated.entry + BigInt(random(20_000) - 10_000),
      entry: generated.entry + BigInt(random(400) - 200),
      stopApart: BigInt(1 + random(20_000)),
    };
    known.push(reckoned(generated, { ...plan, userId: user.id, username }));
    rows.push({ ...(await insertPlan(generated, plan, { id: user.id, username })), ...told(generated) });
    if (index % 10 === 3) {
      const end = OTHER_ENDS[Math.floor(index / 10) % OTHER_ENDS.length] ?? 'unfilled';
      await insertPlan(generated, plan, { id: user.id, username }, end);
    }
    if (rows.length < BATCH && index < options.trades - 1) continue;
    await db.insert(closedPositions).values(rows.splice(0));
  }

  async function insertPlan(
    generated: GeneratedTrade,
    plan: Plan,
    { id: userId, username }: { id: string; username: string },
    fillStatus: 'filled' | (typeof OTHER_ENDS)[number] = 'filled',
  ): Promise<Omit<typeof closedPositions.$inferInsert, keyof ReturnType<typeof told>>> {
    const { token, openedAt } = generated;
    const isFilled = fillStatus === 'filled' || fillStatus === 'partial';
    const [signalId, logId, tradeId] = [timeOrderedId(), timeOrderedId(), timeOrderedId()];
    const side = generated.side === 'long' ? ('buy' as const) : ('sell' as const);
    const stop = plan.entry + (side === 'buy' ? -plan.stopApart : plan.stopApart);
    await db.insert(signals).values({
      id: signalId,
      hookId: userId,
      ownerUserId: userId,
      fromAdmin: true,
      token,
      action: side,
      processor: plan.processor,
      timeframe: plan.timeframe,
      price: decimalOf(plan.signal, 4),
      currency: 'USDT',
      receivedAt: openedAt,
      sourceIp: '',
      hashValue: signalId,
      parameters: {},
    });
    await db.insert(positionGeneratorLogs).values({
      id: logId,
      signalId,
      userId,
      profile: 'automatic',
      exchangePlatform: 'Bitget',
      token,
      success: true,
      position: { method: plan.sizingMethod },
      settings: {},
      createdAt: openedAt,
    });
    await db.insert(trades).values({
      id: tradeId,
      positionGeneratorLogId: logId,
      signalId,
      userId,
      triggerType: 'automatic',
      profile: 'automatic',
      exchangePlatform: 'Bitget',
      token,
      side,
      plannedQuantity: '1',
      entryPrice: decimalOf(plan.entry, 4),
      stopLoss: decimalOf(stop, 4),
      takeProfit: '1',
      leverage: 10,
      plannedMargin: '1',
      state: 'done',
      success: isFilled,
      fillStatus,
      filledQuantity: isFilled ? '1' : '0',
      createdAt: openedAt,
      completedAt: openedAt,
    });
    const { processor, timeframe, sizingMethod } = plan;
    const details = { processor, token, timeframe, sizingMethod, side: generated.side };
    orders.push({ userId, username, ...details, beganAt: openedAt, isFilled });
    return {
      id: timeOrderedId(),
      tradeId,
      userId,
      exchangePlatform: 'Bitget',
      token,
      side: sideOpenedBy(side),
      closedBy: 'unknown',
      recordedAt: generated.closedAt,
    };
  }

  /** What the exchange reports; every 40th trade comes from the time before funding was kept. */
  function told(generated: GeneratedTrade) {
    const { positionId: _own, token: _token, side: _side, ...reported } = asReported(generated);
    return {
      ...reported,
      funding: isBeforeFunding(generated) ? null : reported.funding,
      exchangePositionId: randomUUID() as string | null,
    };
  }

  return {
    ...world,
    known,
    orders,
    users,
    /** One more trade, by the same way as in operation: first seen gone, then explained by the exchange. */
    async closeOne(generated: GeneratedTrade, { isExplained }: { isExplained: boolean }): Promise<void> {
      const { user, username } = users[0] ?? {};
      if (user === undefined || username === undefined) throw new Error('no user');
      const plan = {
        processor: 'Tesla',
        timeframe: '15',
        sizingMethod: 'Risk Management',
        signal: 1_000_000n,
        entry: 1_000_000n,
        stopApart: 10_000n,
      };
      const planned = await insertPlan(generated, plan, { id: user.id, username });
      const row = { ...planned, ...told(generated) };
      const { closePrice: _price, realisedProfit: _profit, fees: _fees, funding: _funding, ...gone } = row;
      await recordGone(db, { ...gone, id: timeOrderedId(), exchangePositionId: null });
      if (isExplained) await recordClosedPosition(db, row);
      const trade = reckoned(generated, { ...plan, userId: user.id, username });
      known.push(isExplained ? trade : { ...trade, net: null, gross: null, fees: null, funding: null });
    },
  };
}

type Plan = Pick<ReckonedTrade, 'processor' | 'timeframe' | 'sizingMethod' | 'signal' | 'entry'> & {
  stopApart: bigint;
};

const isBeforeFunding = ({ index }: GeneratedTrade) => index % 40 === 7;

function reckoned(
  generated: GeneratedTrade,
  { stopApart, ...plan }: Plan & { userId: string; username: string },
): ReckonedTrade {
  const { token, side, entry, closes, fees, openedAt, closedAt } = generated;
  const gained = closes.reduce(
    (total, { price, size }) => total + (side === 'long' ? price - entry : entry - price) * size * 10n,
    0n,
  );
  const paid = fees.reduce((total, fee) => total + fee, 0n);
  const funding = generated.funding * 10_000n;
  return {
    ...plan,
    token,
    side,
    closedAt,
    holdingMs: closedAt.getTime() - openedAt.getTime(),
    gross: isBeforeFunding(generated) ? null : gained,
    fees: paid,
    funding: isBeforeFunding(generated) ? null : funding,
    net: gained - paid + funding,
    plannedLoss: stopApart * closes.reduce((total, { size }) => total + size, 0n) * 10n,
    fill: entry,
  };
}
