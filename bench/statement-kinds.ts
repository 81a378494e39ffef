/** How often statements of one text were sent. */
export interface StatementKind {
  text: string;
  calls: number;
}

const LONGEST_TEXT = 110;

/** Statements of one text as one kind, however many values their lists have; with the calls of each user. */
export function statementKinds(statements: readonly StatementKind[], users: number): StatementKind[] {
  const byText = Map.groupBy(statements, ({ text }) => normalised(text));
  return [...byText]
    .map(([text, same]) => ({ text, calls: same.reduce((total, { calls }) => total + calls, 0) / users }))
    .toSorted((a, b) => b.calls - a.calls);
}

/** One line for each kind that a user needs at least this often, the most frequent first. */
export function describeKinds(kinds: readonly StatementKind[], fewest: number): string[] {
  return kinds
    .filter(({ calls }) => calls >= fewest)
    .map(({ text, calls }) => `${calls.toFixed(2).padStart(6)}  ${text}`);
}

function normalised(text: string): string {
  const short = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\$\d+(?:::[a-z[\]]+)?(?:, ?\$\d+(?:::[a-z[\]]+)?)*/g, '?')
    .replace(/^select .* from "/i, 'select … from "')
    .trim();
  return short.length > LONGEST_TEXT ? `${short.slice(0, LONGEST_TEXT)}…` : short;
}
