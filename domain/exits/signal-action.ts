import { D, isDecimal, toPlain } from '../decimal.ts';

export type Side = 'long' | 'short';
/** What a signal does: `buy` and `sell` enter, `close` and `reduce` leave. */
export type SignalAction = 'buy' | 'sell' | 'close' | 'reduce';

/** The action as screens show it: 'Buy'. */
export const actionName = (action: SignalAction): string => action.charAt(0).toUpperCase() + action.slice(1);

/** What a signal that leaves wants of a position. */
export interface Exit {
  /** Only a position on this side is meant; null: whichever is open. */
  side: Side | null;
  /** How much of the position is closed, in percent: above 0, at most 100. Null: the signal does not say. */
  percent: string | null;
}

export type ReadAction =
  | { ok: true; action: 'buy' | 'sell'; exit: null }
  | { ok: true; action: 'close' | 'reduce'; exit: Exit }
  /** `field`: which field of the payload is wrong. */
  | { ok: false; field: string; message: string };

const ENTRIES: Readonly<Record<string, 'buy' | 'sell'>> = {
  buy: 'buy',
  long: 'buy',
  sell: 'sell',
  short: 'sell',
};
const CLOSES: Readonly<Record<string, Side | null>> = {
  close: null,
  exit: null,
  flat: null,
  close_long: 'long',
  close_short: 'short',
};

/**
 * What a signal's payload asks for. `find` returns a field by its name. When both `prev_market_position` and
 * `market_position` of a TradingView strategy are there, they decide: an order of a strategy may close, although its
 * action says buy or sell.
 */
export function readAction(find: (name: string) => unknown): ReadAction {
  const word = readWord(find('action'));
  if (Object.hasOwn(CLOSES, word)) return leave('close', CLOSES[word] ?? null, '100');
  if (word === 'reduce') {
    const percent = readPercent(find);
    if (percent === null) return wrong('reduce_percent', 'is required');
    return typeof percent === 'string' ? leave('reduce', null, percent) : percent;
  }
  const action = ENTRIES[word];
  if (!Object.hasOwn(ENTRIES, word) || action === undefined) {
    return wrong('action', 'must be buy, sell, long, short, close, close_long, close_short or reduce');
  }
  return readPlaceholders(find, action) ?? { ok: true, action, exit: null };
}

type Position = Side | 'flat';
const isPosition = (word: string): word is Position => ['long', 'short', 'flat'].includes(word);

/** Null: the signal means what its action says. */
function readPlaceholders(find: (name: string) => unknown, action: 'buy' | 'sell'): ReadAction | null {
  const before = readWord(find('prev_market_position'));
  const after = readWord(find('market_position'));
  if (!isPosition(before) || !isPosition(after)) return null;
  if (after === 'flat') return leave('close', null, '100');
  const matches = (action === 'buy') === (after === 'long');
  if (before === after) return matches ? null : readReduction(find, after);
  if (matches) return null;
  return wrong('action', `${action} contradicts a market position that goes from ${before} to ${after}`);
}

/** The same side with an action against it: the strategy holds less than before. */
function readReduction(find: (name: string) => unknown, side: Side): ReadAction {
  const percent = readPercent(find);
  if (percent !== null) return typeof percent === 'string' ? leave('reduce', side, percent) : percent;
  const before = readSize(find('prev_market_position_size'));
  const after = readSize(find('market_position_size'));
  if (before === null || after === null || after.lte(0) || after.gte(before))
    return leave('reduce', side, null);
  return leave('reduce', side, toPlain(before.minus(after).times(100).div(before).toDecimalPlaces(8)));
}

/** Null when the field is not there. */
function readPercent(find: (name: string) => unknown): string | ReadAction | null {
  const value = find('reduce_percent');
  if (value === undefined || value === null || value === '') return null;
  const text = String(value).trim();
  return /^[1-9]\d?$/.test(text) ? text : wrong('reduce_percent', 'must be a whole number from 1 to 99');
}

function readSize(value: unknown) {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : '';
  return isDecimal(text) ? D(text).abs() : null;
}

const readWord = (value: unknown): string => (typeof value === 'string' ? value.trim().toLowerCase() : '');

const leave = (action: 'close' | 'reduce', side: Side | null, percent: string | null): ReadAction => ({
  ok: true,
  action,
  exit: { side, percent },
});

const wrong = (field: string, message: string): ReadAction => ({ ok: false, field, message });
