import { type BenchResult, type Figure, isMet, judgement, layOut, median, short } from './figures.ts';
import { describeMachine, type Machine } from './machine.ts';

/** A benchmark's figures, and where they come from. */
export interface MeasuredBench extends BenchResult {
  date: string;
  seconds: number;
  command: string;
  machine: Machine;
}

const BEGIN = '<!-- figures: written by `npm run bench -- --write` from performance.json, not by hand -->';
const END = '<!-- end of figures -->';

/** What `--write` stored before. */
export function readResults(json: string): MeasuredBench[] {
  const results: unknown = JSON.parse(json);
  if (!Array.isArray(results)) throw new Error('docs/performance.json holds no list of results');
  return results as MeasuredBench[];
}

/** Newly measured benchmarks take the place of their older figures; the others keep theirs. In the order of `names`. */
export function mergeResults(
  stored: readonly MeasuredBench[],
  run: readonly MeasuredBench[],
  names: readonly string[],
): MeasuredBench[] {
  const byName = new Map([...stored, ...run].map((result) => [result.bench, result]));
  return names.flatMap((name) => byName.get(name) ?? []);
}

/** The page with its figures written anew; what is outside the marks stays as it is. */
export function writeFigures(page: string, results: readonly MeasuredBench[]): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error('docs/performance.md has lost the marks of its figures');
  const text = [BEGIN, '', targets(results), '', '### Runs', '', runs(results), '', END].join('\n');
  return page.slice(0, begin) + text + page.slice(end + END.length);
}

/** Everything that has a target, in one table. */
function targets(results: readonly MeasuredBench[]): string {
  const judged = results.flatMap(({ figures }) => figures.filter(({ target }) => target !== undefined));
  const reached = judged.filter((figure) => isMet(figure)).length;
  const rows = results.flatMap(({ bench, figures }) =>
    groupByTarget(figures).map(({ name, figure }) => [
      bench,
      name,
      withUnit(figure.target?.everyRound ? worstRound(figure) : median(figure.rounds), figure.unit),
      spread(figure),
      ...judgement(figure),
    ]),
  );
  const heading = ['bench', 'what', 'measured', 'least … most', 'target', 'met'];
  return [
    `${judged.length} figures have a target; ${reached} reach it.`,
    '',
    layOut([heading, ...rows]),
  ].join('\n');
}

/** More figures than these with the same target are shown by the one that comes closest to missing it. */
const MOST_ALIKE = 4;

function groupByTarget(figures: readonly Figure[]): { name: string; figure: Figure }[] {
  const groups = Map.groupBy(
    figures.filter(({ target }) => target !== undefined),
    ({ unit, target }) => JSON.stringify([unit, target]),
  );
  return [...groups.values()].flatMap((alike) => {
    if (alike.length <= MOST_ALIKE) return alike.map((figure) => ({ name: figure.name, figure }));
    const byMedian = alike.toSorted((a, b) => median(a.rounds) - median(b.rounds));
    const figure = alike[0]?.target?.most === undefined ? byMedian.at(0) : byMedian.at(-1);
    return figure === undefined ? [] : [{ name: `${figure.name} (worst of ${alike.length})`, figure }];
  });
}

const worstRound = ({ rounds, target }: Figure) =>
  target?.most === undefined ? Math.min(...rounds) : Math.max(...rounds);

const spread = ({ rounds }: Figure) =>
  rounds.length === 1 ? '' : `${short(Math.min(...rounds))} … ${short(Math.max(...rounds))}`;

const withUnit = (value: number, unit: string) => `${short(value)} ${unit}`.trimEnd();

/** When and how each benchmark ran, and its figures without a target. */
function runs(results: readonly MeasuredBench[]): string {
  const byMachine = Map.groupBy(results, ({ machine }) => describeMachine(machine));
  return [...byMachine]
    .flatMap(([machine, measured]) => [`On ${machine}:`, '', ...measured.flatMap(describeRun), ''])
    .join('\n')
    .trimEnd();
}

function describeRun({ bench, about, figures, notes, date, seconds, machine }: MeasuredBench): string[] {
  const others = figures
    .filter(({ target }) => target === undefined)
    .map(({ name, unit, rounds }) => `${name} ${withUnit(median(rounds), unit)}`);
  const when = `${date.slice(0, 16).replace('T', ' ')} UTC, ${seconds} s`;
  const described =
    `- **${bench}** (${when}, load average ${machine.load} before): ${about}. ${notes.join(' ')}`.trimEnd();
  return others.length === 0 ? [described] : [described, `  - Also measured: ${others.join('; ')}.`];
}
