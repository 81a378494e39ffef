import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { startWorld } from '#test/world.ts';

const OPS = join(import.meta.dirname, '..', '..', '..', 'ops');
const read = (path: string) => readFileSync(join(OPS, path), 'utf8');

const rules = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^SignalBoard[A-Z]\w+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.strictObject({ summary: z.string(), description: z.string().optional() }),
        }),
      ),
    }),
  ),
});

const dashboard = z.object({
  panels: z.array(
    z.object({
      id: z.number(),
      type: z.string(),
      title: z.string(),
      targets: z.array(z.object({ expr: z.string() })).optional(),
    }),
  ),
});

const alerts = rules.parse(parse(read('prometheus/alerts.yml'))).groups.flatMap((group) => group.rules);
const { panels } = dashboard.parse(JSON.parse(read('grafana/signal-board.json')));
const expressions = [
  ...alerts.map(({ alert, expr }) => ({ where: alert, expr })),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr }))),
];

/** Series that Prometheus creates. */
const ITS_OWN = new Set(['up']);
const WORDS = /(?:sum|max|min|rate|increase|histogram_quantile|min_over_time|by)\b/;

/** The names of all metrics of a fresh program, and of every series of its histograms. */
const names = new Set<string>();
let text = '';

const board = await startWorld();
text = (await board.anonymous.get('/metrics')).body;
for (const [, name = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
  names.add(name);
  if (type === 'histogram') for (const part of ['bucket', 'sum', 'count']) names.add(`${name}_${part}`);
}
afterAll(() => board.close());

describe('the alert rules and the dashboard', () => {
  test('use only metrics of a running program', () => {
    expect(names.size).toBeGreaterThan(30);
    for (const { where, expr } of expressions) {
      const asked = namesIn(expr);
      expect(asked.length, where).toBeGreaterThan(0);
      for (const name of asked) expect(names.has(name) || ITS_OWN.has(name), `${where}: ${name}`).toBe(true);
    }
  });

  test('use every metric of the program', () => {
    const asked = new Set(expressions.flatMap(({ expr }) => namesIn(expr)));
    const own = [...text.matchAll(/^# TYPE (signal_board_\w+) /gm)].map(([, name = '']) => name);
    const unused = own.filter((name) => !asked.has(name) && !asked.has(`${name}_bucket`));
    expect(unused).toEqual([]);
  });

  test('use only results, outcomes and states that exist', () => {
    const words = readFileSync(join(import.meta.dirname, '../../platform/metrics.ts'), 'utf8');
    let asked = 0;
    for (const { where, expr } of expressions) {
      for (const [, name = '', matchers = ''] of expr.matchAll(/\b(signal_board_\w+)\{([^}]*)\}/g)) {
        const own = text.split('\n').filter((line) => line.startsWith(`${name}{`));
        for (const [, label = '', values = ''] of matchers.matchAll(/(\w+)=~?"([^"]+)"/g)) {
          for (const value of values.split('|')) {
            // Series of exchange calls appear only after the first call.
            const isThere =
              name === 'signal_board_exchange_calls_total'
                ? words.includes(`'${value}'`)
                : own.some((line) => line.includes(`${label}="${value}"`));
            expect(isThere, `${where}: ${name} ${label} ${value}`).toBe(true);
            asked += 1;
          }
        }
      }
    }
    expect(asked).toBeGreaterThan(6);
  });

  test('have balanced expressions and unique names', () => {
    for (const { where, expr } of expressions) {
      for (const [open, close] of ['()', '[]', '{}'])
        expect(expr.split(open ?? '').length, where).toBe(expr.split(close ?? '').length);
    }
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  test('never sum metrics that all instances read from the same database', () => {
    const shared = [...text.matchAll(/^# HELP (\w+) .*of all instances/gm)].map(([, name = '']) => name);
    expect(shared.length).toBeGreaterThan(8);
    for (const { where, expr } of expressions) {
      if (!shared.some((name) => expr.includes(name))) continue;
      expect(expr, where).not.toMatch(/\bsum\b/);
    }
  });
});

/** Without functions, label matchers, ranges and grouping labels. */
function namesIn(expr: string): string[] {
  const bare = expr
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\bby \([^)]*\)/g, '');
  return [...bare.matchAll(/[a-z_][a-z0-9_]*/g)]
    .map(([name]) => name)
    .filter((name) => !WORDS.test(name) || name.includes('signal_board'));
}
