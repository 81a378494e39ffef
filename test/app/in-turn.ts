import { inject, test } from 'vitest';

/*
 * Matrices, such as fault x exchange. A `*.test.ts` plays one fault of each kind and the exchanges in turn; the
 * `*.long.test.ts` that imports it plays every case.
 */

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether matrices are played whole: in the project `long`. */
    everyCase: boolean;
  }
}

/** All pairs, in an order in which both sides change at each step. */
export const crossed = <Row, Column>(rows: readonly Row[], columns: readonly Column[]): [Row, Column][] =>
  columns.flatMap((_, shift) =>
    rows.map((row, index): [Row, Column] => [row, columns[(index + shift) % columns.length] as Column]),
  );

/** Each row with one of the columns, in turn. */
export const inTurn = <Row, Column>(rows: readonly Row[], columns: readonly Column[]): [Row, Column][] =>
  crossed(rows, columns).slice(0, inject('everyCase') ? undefined : rows.length);

/** The cases that stand for their neighbours. */
export const oneOfEachKind = <Case>(cases: readonly Case[], stands: (one: Case) => boolean): Case[] =>
  cases.filter((one) => inject('everyCase') || stands(one));

/** The first of cases that are proven alike. */
export const firstCases = <const Case>(cases: readonly Case[], count = 1): Case[] =>
  cases.slice(0, inject('everyCase') ? undefined : count);

export type TestsInTurn = Pick<typeof test, 'each'> &
  ((name: string, run: () => Promise<void>, timeoutMs?: number) => void);

/** Declares tests only where matrices are played whole: variants of what another test proves. */
export const testEveryCase: Pick<typeof test, 'each'> &
  ((name: string, run: () => unknown, timeoutMs?: number) => void) = Object.assign(
  (name: string, run: () => unknown, timeoutMs?: number) => {
    if (inject('everyCase')) test(name, run, timeoutMs);
  },
  {
    each: ((cases: readonly unknown[]) => test.each(inject('everyCase') ? cases : [])) as typeof test.each,
  },
);

/** Declares the tests of a block that is repeated for each of these settings: each test for one of them, in turn. */
export function testInTurn<Setting>(settings: readonly Setting[], setting: Setting): TestsInTurn {
  const turn = settings.indexOf(setting);
  if (turn === -1) throw new Error('a setting that is none of them');
  let count = 0;
  const isDue = () => count++ % settings.length === turn || inject('everyCase');

  function declare(name: string, run: () => Promise<void>, timeoutMs?: number): void {
    if (isDue()) test(name, run, timeoutMs);
  }
  const each: typeof test.each = (cases: readonly unknown[]) => test.each(cases.filter(isDue));
  return Object.assign(declare, { each });
}
