import { DEFAULT_THEME, defaultCssVariablesResolver, mergeMantineTheme } from '@mantine/core';
import { theme } from './theme.ts';

type Variables = Record<string, string>;

const changed = (ours: Variables, defaults: Variables) =>
  Object.entries(ours).filter(([name, value]) => defaults[name] !== value);

const block = (selector: string, entries: [string, string][]) =>
  entries.length === 0
    ? ''
    : `${selector} {\n${entries.map(([name, value]) => `  ${name}: ${value};`).join('\n')}\n}\n`;

/** The style sheet that MantineProvider would otherwise inject as an inline <style>. */
export function themeVariablesCss(): string {
  const ours = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme));
  const defaults = defaultCssVariablesResolver(DEFAULT_THEME);
  return [
    block(':root', changed(ours.variables, defaults.variables)),
    block(":root[data-mantine-color-scheme='light']", changed(ours.light, defaults.light)),
    block(":root[data-mantine-color-scheme='dark']", changed(ours.dark, defaults.dark)),
  ]
    .join('\n')
    .replaceAll("'", '"');
}
