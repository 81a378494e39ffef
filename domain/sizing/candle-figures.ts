import { isDecimal, isPositive, parsePositiveNumber } from '../decimal.ts';
import { readTrend } from './trend.ts';

/** A field of a candle that was sent and cannot be read. It never counts as absent. */
export interface UnreadableField {
  field: string;
  /** As sent, cut where it is long. */
  text: string;
  /** Follows field and text: 'is not a number'. */
  problem: string;
}

/** What a position needs of a candle. Prices are decimal text in USDT. */
export interface CandleFigures {
  atr: string | null;
  immediateTrend: unknown;
  matureTrend: unknown;
  /** Missing in records of versions that took unreadable fields for absent ones. */
  unreadable?: readonly UnreadableField[];
}

const LONGEST_TEXT = 60;
const ABSENT_WORDS = new Set(['', 'na', 'nan']);

/** Charts write 'na' or 'NaN' for a figure that they do not have. */
export const isAbsent = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && ABSENT_WORDS.has(value.trim().toLowerCase()));

/** The optional fields that are read, by their names in lower case. */
const OPTIONAL_FIELDS: readonly {
  name: string;
  label: string;
  problemOf: (value: unknown) => string | null;
}[] = [
  { name: 'atr', label: 'ATR', problemOf: numberProblem },
  { name: 'immediate_trend', label: 'immediate_trend', problemOf: trendProblem },
  { name: 'mature_trend', label: 'mature_trend', problemOf: trendProblem },
  { name: 'open', label: 'Open', problemOf: numberProblem },
  { name: 'high', label: 'High', problemOf: numberProblem },
  { name: 'low', label: 'Low', problemOf: numberProblem },
];

/** The optional fields of a candle that are present and cannot be read. `find` gets names in lower case. */
export function listUnreadable(find: (name: string) => unknown): UnreadableField[] {
  return OPTIONAL_FIELDS.flatMap(({ name, label, problemOf }) => {
    const value = find(name);
    const problem = isAbsent(value) ? null : problemOf(value);
    return problem === null ? [] : [{ field: label, text: asText(value), problem }];
  });
}

/** `ATR "$3" is not a number` */
export const describeUnreadable = ({ field, text, problem }: UnreadableField): string =>
  `${field} "${text}" ${problem}`;

/** The figures of a stored candle; the names of its parameters are in lower case. */
export function readCandleFigures(parameters: Readonly<Record<string, unknown>>): CandleFigures {
  const atr = parsePositiveNumber(parameters.atr);
  const given = (value: unknown) => (isAbsent(value) ? null : value);
  return {
    atr: atr.ok ? atr.value : null,
    immediateTrend: given(parameters.immediate_trend),
    matureTrend: given(parameters.mature_trend),
    unreadable: listUnreadable((name) => parameters[name]),
  };
}

/** The first unreadable field that a position depends on: the ATR, and the trend that decides. */
export function findNeededUnreadable(figures: CandleFigures | null): UnreadableField | null {
  const { unreadable = [], matureTrend } = figures ?? { matureTrend: null };
  const mature = readTrend(matureTrend);
  const isDecided = mature !== null && mature !== 'flat';
  const needed = ['ATR', 'mature_trend', ...(isDecided ? [] : ['immediate_trend'])];
  return unreadable.find(({ field }) => needed.includes(field)) ?? null;
}

function numberProblem(value: unknown): string | null {
  const read = parsePositiveNumber(value);
  if (read.ok) return null;
  const outOfRange = read.reason.replace('must be', 'is not');
  if (typeof value === 'number') return value > 0 ? outOfRange : 'is not above zero';
  const text = typeof value === 'string' ? value.trim() : '';
  if (!isDecimal(text) || text.startsWith('+')) return 'is not a number';
  return isPositive(text) ? outOfRange : 'is not above zero';
}

function trendProblem(value: unknown): string | null {
  return readTrend(value) === null ? 'is not a known trend' : null;
}

function asText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT).toWellFormed()}…` : text;
}
