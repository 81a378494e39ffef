/** One measured quantity with all of its rounds: a median alone would hide how much this machine wavers. */
export interface Figure {
  name: string;
  unit: string;
  rounds: number[];
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

/** Collects the rounds of several quantities. */
export function createFigures(): {
  add(name: string, unit: string, value: number): void;
  all(): Figure[];
} {
  const figures = new Map<string, Figure>();
  return {
    add(name, unit, value) {
      const figure = figures.get(name) ?? { name, unit, rounds: [] };
      figure.rounds.push(value);
      figures.set(name, figure);
    },
    all: () => [...figures.values()],
  };
}

/** A table of medians and spreads, as it stands in a terminal and in Markdown alike. */
export function toTable({ figures }: Pick<BenchResult, 'figures'>): string {
  const rows = figures.map(({ name, unit, rounds }) => [
    name,
    short(median(rounds)),
    unit,
    rounds.length === 1 ? '' : `${short(Math.min(...rounds))} … ${short(Math.max(...rounds))}`,
    String(rounds.length),
  ]);
  const table = [['what', 'median', 'unit', 'least … most', 'rounds'], ...rows];
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [heading = [], ...body] = table;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(heading), rule, ...body.map(line)].join('\n');
}

function short(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
