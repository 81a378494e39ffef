import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** The limits of a figure's median, or of every round. */
export interface Target {
  most?: number;
  least?: number;
  everyRound?: boolean;
}

/** One measured quantity with all of its rounds, because a median hides how much the machine varies. */
export interface Figure {
  name: string;
  unit: string;
  rounds: number[];
  target?: Target;
}

/** A benchmark's figures and their origin, as stored in docs/performance.json. */
export interface MeasuredBench {
  bench: string;
  about: string;
  figures: Figure[];
  notes: string[];
  date: string;
  seconds: number;
  command: string;
  machine: Machine;
}

export interface Machine {
  processors: number;
  model: string;
  memoryGb: number;
  platform: string;
  node: string;
  /** Load average before the benchmark. */
  load: number;
}

/** The context passed to a benchmark; `add` and `say` are bound to that benchmark. */
export interface BenchContext {
  /** Adds a round to a figure. Null, for a quantity that this machine cannot measure, is skipped. */
  add(name: string, unit: string, value: number | null, target?: Target): void;
  say(line: string): void;
  /** Small sizes for trying out a benchmark; its figures mean little. */
  short: boolean;
  /** Duration of the soak. */
  minutes: number;
  /** How many users a signal has, where that can be chosen; null: as many as the benchmark is about. */
  users: number | null;
}

export interface Bench {
  about: string;
  /** Its duration in words. */
  takes: string;
  /** 'all': runs only with --all or by name. 'named': runs only by name. */
  only?: 'all' | 'named';
  run(context: BenchContext): Promise<Pick<MeasuredBench, 'about' | 'notes'>>;
}

export const readMachine = (): Machine => ({
  processors: availableParallelism(),
  model: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGb: Math.round(totalmem() / 1024 ** 3),
  platform: `${process.platform} ${process.arch}`,
  node: process.version,
  load: Number(loadavg()[0]?.toFixed(2)),
});

export function describeMachine({ processors, model, memoryGb, platform, node }: Machine): string {
  return `${processors} processors (${model}), ${memoryGb} GB, ${platform}, Node ${node}`;
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export function mean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('Cannot take the mean of no values');
  return sum(values) / values.length;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return mean(sorted.slice(Math.floor(middle), Math.ceil(middle) + 1));
}

/** The smallest value that at least this share (0 to 1) of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('Cannot take a percentile of no values');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** The growth of y for each unit of x, by least squares. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const spread = sum(points.map(({ x }) => (x - meanX) ** 2));
  if (spread === 0) throw new RangeError('A slope needs points with different x');
  return sum(points.map(({ x, y }) => (x - meanX) * (y - meanY))) / spread;
}

/** Null without a target. */
export function isMet({ rounds, target }: Figure): boolean | null {
  if (target === undefined) return null;
  const { most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY, everyRound = false } = target;
  const judged = everyRound ? rounds : [median(rounds)];
  return judged.every((value) => value <= most && value >= least);
}

/** Collects the rounds of several figures. */
export function createFigures(): { add: BenchContext['add']; all: () => Figure[] } {
  const figures = new Map<string, Figure>();
  return {
    add(name, unit, value, target) {
      if (value === null) return;
      if (!Number.isFinite(value)) throw new RangeError(`${name} is ${value}`);
      const figure = figures.get(name) ?? { name, unit, rounds: [], ...(target ? { target } : {}) };
      figure.rounds.push(value);
      figures.set(name, figure);
    },
    all: () => [...figures.values()],
  };
}

/** A table of medians and spreads that reads well in a terminal and as Markdown. */
export function toTable(figures: readonly Figure[]): string {
  const isJudged = figures.some(({ target }) => target !== undefined);
  const rows = figures.map((figure) => {
    const { name, unit, rounds } = figure;
    const row = [name, short(median(rounds)), unit, spread(figure), String(rounds.length)];
    return isJudged ? [...row, ...judgement(figure)] : row;
  });
  const heading = ['what', 'median', 'unit', 'least … most', 'rounds'];
  return layOut([isJudged ? [...heading, 'target', 'met'] : heading, ...rows]);
}

/** Rows of cells as a Markdown table; the first row is its heading. */
function layOut([heading = [], ...body]: readonly string[][]): string {
  const widths = heading.map((_, column) =>
    Math.max(...[heading, ...body].map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(heading), rule, ...body.map(line)].join('\n');
}

/** A target in words, and whether it is met. */
function judgement(figure: Figure): [target: string, met: string] {
  const { target } = figure;
  if (target === undefined) return ['', ''];
  const limits = [
    ...(target.least === undefined ? [] : [`≥ ${short(target.least)}`]),
    ...(target.most === undefined ? [] : [`≤ ${short(target.most)}`]),
  ];
  const words = `${limits.join(', ')}${target.everyRound ? ' in every round' : ''}`;
  return [words, isMet(figure) ? 'yes' : 'no'];
}

const spread = ({ rounds }: Figure) =>
  rounds.length === 1 ? '' : `${short(Math.min(...rounds))} … ${short(Math.max(...rounds))}`;

function short(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

const withUnit = (value: number, unit: string) => `${short(value)} ${unit}`.trimEnd();

const BEGIN = '<!-- figures: written by `npm run bench -- --write` from performance.json, not by hand -->';
const END = '<!-- end of figures -->';

/** Replaces the figures of newly measured benchmarks and keeps the others. Ordered as `names`. */
export function mergeResults(
  stored: readonly MeasuredBench[],
  run: readonly MeasuredBench[],
  names: readonly string[],
): MeasuredBench[] {
  const byName = new Map([...stored, ...run].map((result) => [result.bench, result]));
  return names.flatMap((name) => byName.get(name) ?? []);
}

/** Replaces the figures between the marks of the page. */
export function writeFigures(page: string, results: readonly MeasuredBench[]): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error('docs/performance.md has lost the marks of its figures');
  const text = [BEGIN, '', describeTargets(results), '', '### Runs', '', describeRuns(results), '', END];
  return page.slice(0, begin) + text.join('\n') + page.slice(end + END.length);
}

/** All figures with a target, in one table. */
function describeTargets(results: readonly MeasuredBench[]): string {
  const judged = results.flatMap(({ figures }) => figures.filter(({ target }) => target !== undefined));
  const reached = judged.filter((figure) => isMet(figure)).length;
  const rows = results.flatMap(({ bench, figures }) =>
    groupByTarget(figures).map((figure) => {
      const { name, rounds, unit, target } = figure;
      const value = target?.everyRound ? worstRound(figure) : median(rounds);
      return [bench, name, withUnit(value, unit), spread(figure), ...judgement(figure)];
    }),
  );
  const heading = ['bench', 'what', 'measured', 'least … most', 'target', 'met'];
  return `${judged.length} figures have a target; ${reached} reach it.\n\n${layOut([heading, ...rows])}`;
}

const worstRound = ({ rounds, target }: Figure) =>
  target?.most === undefined ? Math.min(...rounds) : Math.max(...rounds);

/** When more figures than this share one target, only the one closest to missing it is shown. */
const MOST_ALIKE = 4;

function groupByTarget(figures: readonly Figure[]): Figure[] {
  const judged = figures.filter(({ target }) => target !== undefined);
  const groups = Map.groupBy(judged, ({ unit, target }) => JSON.stringify([unit, target]));
  return [...groups.values()].flatMap((alike) => {
    if (alike.length <= MOST_ALIKE) return alike;
    const byMedian = alike.toSorted((a, b) => median(a.rounds) - median(b.rounds));
    const worst = byMedian.at(alike[0]?.target?.most === undefined ? 0 : -1);
    return worst === undefined ? [] : [{ ...worst, name: `${worst.name} (worst of ${alike.length})` }];
  });
}

/** When and how each benchmark ran, with its figures that have no target. */
function describeRuns(results: readonly MeasuredBench[]): string {
  const byMachine = Map.groupBy(results, ({ machine }) => describeMachine(machine));
  return [...byMachine]
    .map(([machine, measured]) => [`On ${machine}:`, '', ...measured.flatMap(describeRun)].join('\n'))
    .join('\n\n');
}

function describeRun({ bench, about, figures, notes, date, seconds, machine }: MeasuredBench): string[] {
  const others = figures
    .filter(({ target }) => target === undefined)
    .map(({ name, unit, rounds }) => `${name} ${withUnit(median(rounds), unit)}`);
  const when = `${date.slice(0, 16).replace('T', ' ')} UTC, ${seconds} s, load average ${machine.load} before`;
  const described = `- **${bench}** (${when}): ${about}. ${notes.join(' ')}`.trimEnd();
  return others.length === 0 ? [described] : [described, `  - Also measured: ${others.join('; ')}.`];
}
