import type { ScenarioContext, ScenarioResult, Sizes } from './scenario.ts';
import { type ScenarioName, scenarioOf } from './scenarios.ts';

export interface ScenarioRun {
  name: ScenarioName;
  sizes: Sizes;
}

/** Says what it does as it goes, then one result line; a violation also prints the command that repeats the run. */
export async function runScenario(
  context: ScenarioContext,
  { name, sizes }: ScenarioRun,
): Promise<ScenarioResult> {
  const { seed, say } = context;
  const startedAt = performance.now();
  const label = `${name}${sizes.database === undefined ? '' : ` (${sizes.database})`}`;
  say(`${label}: ${scenarioOf(name).about}`);
  const result = await scenarioOf(name).run({ ...context, say: (line) => say(`  ${label}: ${line}`) }, sizes);
  const { violations } = result;
  const figures = { ...result.figures, seconds: Math.round((performance.now() - startedAt) / 1_000) };
  const told = Object.entries(figures).map(([what, value]) => `${value} ${what}`);
  say(`${label}, seed ${seed}: ${violations.length} violations; ${told.join(', ')}`);
  for (const text of violations.slice(0, 40)) say(`  VIOLATION ${text}`);
  if (violations.length > 0) say(`  again: ${replayCommand({ seed, name, sizes })}`);
  return result;
}

export function replayCommand({ seed, name, sizes }: ScenarioRun & { seed: string }): string {
  const given = Object.entries(sizes).map(([key, value]) => `--set ${quoted(`${key}=${value}`)}`);
  return `npm run faults -- --scenario ${name} --seed ${seed} ${given.join(' ')}`;
}

const quoted = (text: string) => (/\s/.test(text) ? `'${text}'` : text);
