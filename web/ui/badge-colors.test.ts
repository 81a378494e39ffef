import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { timeframeMinutes } from '#domain/timeframe.ts';

const TOKENS =
  'BTC, ETH, SOL, SUI, TON, ADA, XRP, DOGE, MATIC, AVAX, DOT, LINK, UNI, LTC, ATOM, NEAR, FTM, ALGO'.split(
    ', ',
  );
const TIMEFRAMES = '1m, 2m, 5m, 15m, 30m, 1h, 4h, 1d'.split(', ');

/** WCAG 2 AA contrast for small text. */
const AA = 4.5;

const SCHEMES = ['light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];
type Declarations = Record<string, string>;

/** The declarations per selector. Relies on our style sheets starting every rule on its own line. */
function readRules(...files: string[]): Map<string, Declarations> {
  const rules = new Map<string, Declarations>();
  for (const file of files) {
    const css = readFileSync(new URL(file, import.meta.url), 'utf8');
    for (const [, selector = '', body = ''] of css.matchAll(/^([^\s/].*) \{\n([^}]*)\}/gm)) {
      const declarations = [...body.matchAll(/^ {2}([a-z-]+): (.*);$/gm)].map(([, name, value]) => [
        name,
        value,
      ]);
      rules.set(selector, { ...rules.get(selector), ...Object.fromEntries(declarations) });
    }
  }
  return rules;
}

const pageRules = readRules('../app/theme-variables.css', '../app/global.css');
const badgeRules = readRules('./badge.module.css');

/** Background and text colour of a badge; properties missing from its own rule come from its base rule. */
function lookOf(selector: string, scheme: Scheme) {
  const look = { ...badgeRules.get(selector.replace(/\[.*\]/, '')), ...badgeRules.get(selector) };
  return { background: resolveColor(look.background, scheme), color: resolveColor(look.color, scheme) };
}

function resolveColor(value: string | undefined, scheme: Scheme): string {
  const pair = /^light-dark\((.*), (.*)\)$/.exec(value ?? '');
  if (pair) return resolveColor(pair[scheme === 'light' ? 1 : 2], scheme);
  const variable = /^var\((.*)\)$/.exec(value ?? '')?.[1];
  if (variable === undefined) return value ?? 'none';
  const page = {
    ...pageRules.get(':root'),
    ...pageRules.get(`:root[data-mantine-color-scheme="${scheme}"]`),
  };
  return resolveColor(page[variable], scheme);
}

function luminance(color: string): number {
  const digits = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/.exec(color);
  if (digits === null) throw new Error(`Not a colour: ${color}`);
  const [red = 0, green = 0, blue = 0] = digits.slice(1).map((digit) => {
    const part = Number.parseInt(digit, 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast({ background, color }: { background: string; color: string }): number {
  const [darker = 0, lighter = 0] = [luminance(background), luminance(color)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const tokenSelector = (token: string) => `.token[data-token="${token}"]::before`;
const timeframeSelector = (text: string) => `.timeframe[data-minutes="${timeframeMinutes(text)}"]`;
const toneSelectors = [...badgeRules.keys()].filter((selector) => /^\.badge\[data-tone[^:]*$/.test(selector));

describe.each(SCHEMES)('in %s colours', (scheme) => {
  // Requirements: trading-constants-19
  test.each([
    ['.token::before'],
    ['.timeframe'],
    ...toneSelectors.map((selector) => [selector]),
    ...TOKENS.map((token) => [tokenSelector(token)]),
    ...TIMEFRAMES.map((text) => [timeframeSelector(text)]),
  ])('%s has enough contrast', (selector) => {
    expect(badgeRules.has(selector), 'it has a rule of its own').toBe(true);
    expect(contrast(lookOf(selector, scheme))).toBeGreaterThanOrEqual(AA);
  });

  // Requirements: trading-constants-19
  test('tokens differ from each other and from unknown ones', () => {
    const looks = [...TOKENS.map(tokenSelector), '.token::before'].map((one) =>
      JSON.stringify(lookOf(one, scheme)),
    );
    expect(new Set(looks).size).toBe(TOKENS.length + 1);
  });

  // Requirements: trading-constants-19
  test('timeframes differ from each other and from unknown ones', () => {
    const looks = [...TIMEFRAMES.map(timeframeSelector), '.timeframe'];
    expect(new Set(looks.map((one) => lookOf(one, scheme).color)).size).toBe(TIMEFRAMES.length + 1);
  });
});

test('checks all nine tones', () => {
  expect(toneSelectors).toHaveLength(9);
});
