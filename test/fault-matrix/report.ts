import type { CaseResult } from './run-case.ts';

/** The matrix as a table: a row for each fault and exchange, in the order of the results. */
export function toTable(results: readonly CaseResult[]): string {
  const rows = new Map<string, CaseResult[]>();
  for (const result of results) {
    const key = `${result.fault} ${result.exchange}`;
    rows.set(key, [...(rows.get(key) ?? []), result]);
  }
  const lines = [...rows.values()].map((cases) => cellsOf(cases));
  const head = ['fault', 'exchange', 'runs', 'violations', 'median calls', 'the struck user'];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOf(cases: CaseResult[]): string[] {
  const [first] = cases;
  const violations = cases.reduce((sum, one) => sum + one.violations.length, 0);
  const outcomes = new Map<string, number>();
  for (const { outcome } of cases) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  return [
    first?.fault ?? '',
    first?.exchange ?? '',
    String(cases.length),
    String(violations),
    median(cases.flatMap((one) => one.callsPerOrder)).toFixed(1),
    [...outcomes]
      .sort(([, one], [, other]) => other - one)
      .map(([outcome, count]) => `${outcome} ${count}`)
      .join(', '),
  ];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

export const replayOf = ({ fault, exchange, seed }: CaseResult): string =>
  `npm run fault-matrix -- --fault ${fault} --exchange ${exchange} --seed ${seed}`;
