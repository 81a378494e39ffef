import { expect, test } from 'vitest';
import { describeKinds, statementKinds } from './statement-kinds.ts';

test('statements that differ in their values only are one kind, the most frequent first', () => {
  const statements = [
    { text: 'begin', calls: 10 },
    { text: 'select "id"\n  from "trades" where id in ($1, $2)', calls: 15 },
    { text: 'select "id" from "trades" where id in ($1)', calls: 25 },
  ];
  expect(statementKinds(statements, 10)).toEqual([
    { text: 'select … from "trades" where id in (?)', calls: 4 },
    { text: 'begin', calls: 1 },
  ]);
});

test('rare kinds are left out, and long ones are cut', () => {
  const kinds = statementKinds(
    [
      { text: `update ${'x'.repeat(300)}`, calls: 20 },
      { text: 'select now()', calls: 1 },
    ],
    10,
  );
  const [line, ...others] = describeKinds(kinds, 0.2);
  expect(line).toMatch(/^ {2}2\.00 {2}update x+…$/);
  expect(others).toEqual([]);
});
