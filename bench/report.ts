import { type BenchResult, isMet, judgement, layOut, median, short, toTable } from './figures.ts';
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

/** The page with its figures written anew; what stands outside the marks stays as it is. */
export function writeFigures(page: string, results: readonly MeasuredBench[]): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error('docs/performance.md has lost the marks of its figures');
  const text = [BEGIN, '', summary(results), '', ...results.map(section), END].join('\n');
  return page.slice(0, begin) + text + page.slice(end + END.length);
}

/** Everything that has a target, in one table. */
function summary(results: readonly MeasuredBench[]): string {
  const judged = results.flatMap(({ bench, figures }) =>
    figures
      .filter(({ target }) => target !== undefined)
      .map((figure) => {
        const value = figure.target?.everyRound ? worst(figure) : median(figure.rounds);
        return [bench, figure.name, `${short(value)} ${figure.unit}`, ...judgement(figure)];
      }),
  );
  const missed = results.flatMap(({ figures }) => figures.filter((figure) => isMet(figure) === false)).length;
  const verdict = `${judged.length} figures have a target; ${judged.length - missed} reach it.`;
  return [verdict, '', layOut([['benchmark', 'what', 'measured', 'target', 'met'], ...judged])].join('\n');
}

const worst = ({ rounds, target }: { rounds: number[]; target?: { most?: number } }) =>
  target?.most === undefined ? Math.min(...rounds) : Math.max(...rounds);

function section(result: MeasuredBench): string {
  const { bench, about, figures, notes, date, seconds, command, machine } = result;
  return [
    `### ${bench}`,
    '',
    `${about}.`,
    '',
    toTable({ figures }),
    '',
    ...notes.map((note) => `- ${note}`),
    `- ${date.slice(0, 16).replace('T', ' ')} UTC, \`${command}\`, ${seconds} s; ${describeMachine(machine)}, load average ${machine.load} before.`,
    '',
  ].join('\n');
}
