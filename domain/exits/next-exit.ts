import { D, type Decimal, roundToTick, toPlain } from '../decimal.ts';
import { hasReached, type PlannedExits, type Trail } from './plan-exits.ts';

/** A stop is moved by at least this part of R, and no sooner than this after the last move. */
export const SMALLEST_MOVE_R = '0.1';
export const MOVE_EVERY_MS = 10_000;

export interface ExitState {
  side: 'long' | 'short';
  exits: PlannedExits;
  /** When the entry was final. */
  enteredAt: Date;
  now: Date;
  markPrice: string;
  /** The best mark price that was seen since the entry, this one included. */
  bestPrice: string;
  /** How many parts are closed, from the first on. */
  partsDone: number;
  isBreakEvenDone: boolean;
  /** The stop that protects the position now. */
  stopLoss: string;
  /** When the plan last moved the stop, also in vain; null: never. */
  movedAt: Date | null;
}

/** What a plan does next. `part`: index in `exits.parts`. `move`: to a stop that is nearer to the price. */
export type NextExit =
  | { kind: 'time' }
  | { kind: 'part'; part: number }
  | { kind: 'move'; why: 'break-even' | 'trail'; stopLoss: string };

/** What a plan does now at this mark price; null: nothing. Closing comes before moving. */
export function nextExit(state: ExitState): NextExit | null {
  const { side, exits, markPrice, partsDone } = state;
  if (isHeldTooLong(state)) return { kind: 'time' };
  const part = exits.parts[partsDone];
  if (part !== undefined && hasReached(side, markPrice, part.price)) return { kind: 'part', part: partsDone };
  return nextMove(state);
}

/** Whether the position was held as long as the plan permits. */
export function isHeldTooLong({ exits, enteredAt, now }: Pick<ExitState, 'exits' | 'enteredAt' | 'now'>) {
  const { maxHoldingMinutes: minutes } = exits;
  return minutes !== null && now.getTime() - enteredAt.getTime() >= minutes * 60_000;
}

/** Where the stop is moved to now; null: it stays. */
function nextMove(state: ExitState): NextExit | null {
  const { movedAt, now } = state;
  if (movedAt !== null && Math.abs(now.getTime() - movedAt.getTime()) < MOVE_EVERY_MS) return null;
  const wanted = [breakEvenStop(state), trailingStop(state)]
    .filter((move) => move !== null)
    .filter(({ stopLoss }) => isWorthMoving(state, stopLoss));
  return wanted.reduce<NextMove | null>(
    (best, move) => (best === null || isNearer(state.side, move.stopLoss, best.stopLoss) ? move : best),
    null,
  );
}

type NextMove = Extract<NextExit, { kind: 'move' }>;

function breakEvenStop({ side, exits, markPrice, isBreakEvenDone }: ExitState): NextMove | null {
  const { breakEven } = exits;
  if (breakEven === null || isBreakEvenDone || !hasReached(side, markPrice, breakEven.atPrice)) return null;
  return { kind: 'move', why: 'break-even', stopLoss: breakEven.stopLoss };
}

function trailingStop({ side, exits, bestPrice }: ExitState): NextMove | null {
  if (exits.trail === null) return null;
  const distance = trailDistance(exits.trail, bestPrice);
  const price = side === 'long' ? D(bestPrice).minus(distance) : D(bestPrice).plus(distance);
  if (!price.gt(0)) return null;
  const stop = roundToTick(price, exits.tickSize, side === 'long' ? 'down' : 'up');
  return { kind: 'move', why: 'trail', stopLoss: toPlain(stop) };
}

const trailDistance = (trail: Trail, price: string): Decimal =>
  'distance' in trail ? D(trail.distance) : D(price).times(trail.percent).div(100);

/** Whether a stop lies nearer to the profit than another: less can be lost. */
export const isNearer = (side: ExitState['side'], stop: string, other: string): boolean =>
  side === 'long' ? D(stop).gt(other) : D(stop).lt(other);

/** Towards less risk only, by at least a tenth of R, and not where the price is already. */
function isWorthMoving({ side, stopLoss: present, markPrice, exits }: ExitState, stop: string): boolean {
  if (!isNearer(side, stop, present) || !isNearer(side, markPrice, stop)) return false;
  return D(stop).minus(present).abs().gte(D(exits.risk).times(SMALLEST_MOVE_R));
}

/** The better of two prices for a position. */
export const betterPrice = (side: ExitState['side'], one: string, other: string | null): string =>
  other === null || hasReached(side, one, other) ? one : other;
