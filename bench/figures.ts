/** What a figure must reach. Judged by the median of the rounds, unless not one of them may miss it. */
export interface Target {
  most?: number;
  least?: number;
  everyRound?: boolean;
}

/** One measured quantity with all of its rounds: a median alone would hide how much this machine wavers. */
export interface Figure {
  name: string;
  unit: string;
  rounds: number[];
  target?: Target;
}

export interface BenchResult {
  bench: string;
  about: string;
  figures: Figure[];
  notes: string[];
}

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('The median of nothing');
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = 0] = [
    sorted[Math.ceil(sorted.length / 2) - 1],
    sorted[Math.floor(sorted.length / 2)],
  ];
  return (low + high) / 2;
}

/** The smallest value that at least this share (0 to 1) of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('A percentile of nothing');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** By how much y grows for each unit of x, by the straight line with the least squares. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  if (spread === 0) throw new RangeError('A slope needs points side by side');
  return points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
}

export function mean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('The mean of nothing');
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Null where nothing is demanded. */
export function isMet({ rounds, target }: Figure): boolean | null {
  if (target === undefined) return null;
  const { most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY, everyRound = false } = target;
  const judged = everyRound ? rounds : [median(rounds)];
  return judged.every((value) => value <= most && value >= least);
}

export interface Figures {
  add(name: string, unit: string, value: number, target?: Target): void;
  all(): Figure[];
}

/** Collects the rounds of several quantities. */
export function createFigures(): Figures {
  const figures = new Map<string, Figure>();
  return {
    add(name, unit, value, target) {
      if (!Number.isFinite(value)) throw new RangeError(`${name} is ${value}`);
      const figure = figures.get(name) ?? { name, unit, rounds: [], ...(target ? { target } : {}) };
      figure.rounds.push(value);
      figures.set(name, figure);
    },
    all: () => [...figures.values()],
  };
}

/** A table of medians and spreads, as it stands in a terminal and in Markdown alike. */
export function toTable({ figures }: Pick<BenchResult, 'figures'>): string {
  const isJudged = figures.some(({ target }) => target !== undefined);
  const rows = figures.map((figure) => {
    const { name, unit, rounds } = figure;
    const spread = rounds.length === 1 ? '' : `${short(Math.min(...rounds))} … ${short(Math.max(...rounds))}`;
    const row = [name, short(median(rounds)), unit, spread, String(rounds.length)];
    return isJudged ? [...row, ...judgement(figure)] : row;
  });
  const heading = ['what', 'median', 'unit', 'least … most', 'rounds'];
  return layOut([isJudged ? [...heading, 'target', 'met'] : heading, ...rows]);
}

/** Rows of cells as a Markdown table; the first row is its heading. */
export function layOut(table: readonly string[][]): string {
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [heading = [], ...body] = table;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(heading), rule, ...body.map(line)].join('\n');
}

/** The words of a target and whether it is met. */
export function judgement(figure: Figure): [target: string, met: string] {
  const { target } = figure;
  if (target === undefined) return ['', ''];
  const limits = [
    target.least === undefined ? '' : `≥ ${short(target.least)}`,
    target.most === undefined ? '' : `≤ ${short(target.most)}`,
  ].filter((text) => text !== '');
  const words = `${limits.join(', ')}${target.everyRound ? ' in every round' : ''}`;
  return [words, isMet(figure) ? 'yes' : 'no'];
}

export function short(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
