import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect } from './fixtures.ts';

/** Rules whose outcome may differ between light and dark. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * What it found in order is neither described nor sent back, which takes longer than the looking. There are no frames,
 * for whose sake axe would gather its results in another page.
 */
const axe = (page: Page): AxeBuilder =>
  new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });

/** The serious and critical findings of every rule, as colours are now. */
export const seriousFindings = (page: Page, place = 'the page'): Promise<string[]> =>
  analyze(axe(page), place);

/**
 * The same in light and in dark, where only what depends on colours is looked at again. The page begins and ends in
 * light colours.
 */
export async function seriousFindingsInBothSchemes(page: Page, place: string): Promise<string[]> {
  const light = await analyze(axe(page), `${place} (light)`);
  await changeScheme(page, 'dark');
  const dark = await analyze(axe(page).withRules(RULES_OF_COLOURS), `${place} (dark)`);
  await changeScheme(page, 'light');
  return [...light, ...dark];
}

/** The findings of axe in both schemes, and whether the page, or a part of it, is wider than a telephone's screen. */
export async function examine(page: Page, place: string, part = page.locator('html')): Promise<string[]> {
  const found = await seriousFindingsInBothSchemes(page, place);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  const hiddenPx = await part.evaluate((element) => element.scrollWidth - element.clientWidth);
  if (size) await page.setViewportSize(size);
  return hiddenPx > 0 ? [...found, `${place} is ${hiddenPx} pixels too wide for a telephone`] : found;
}

async function changeScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
}

async function analyze(builder: AxeBuilder, place: string): Promise<string[]> {
  const { violations } = await builder.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${place}: ${id}: ${html.slice(0, 200)}`));
}
