import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/** Rules whose result can differ between the light and the dark scheme. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Reports violations only: describing and transferring passed checks takes longer than the analysis. Legacy mode is
 * enough because no page has frames; otherwise axe collects its results in a second page.
 */
const axe = (page: Page): AxeBuilder =>
  new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });

/**
 * Serious findings in both colour schemes; the dark pass checks only the rules that depend on colours. The page must
 * be in the light scheme and is left in it.
 */
async function seriousFindingsInBothSchemes(page: Page, place: string): Promise<string[]> {
  const light = await analyze(axe(page), `${place} (light)`);
  await changeScheme(page, 'dark');
  const dark = await analyze(axe(page).withRules(RULES_OF_COLOURS), `${place} (dark)`);
  await changeScheme(page, 'light');
  return [...light, ...dark];
}

/** Axe findings in both schemes, and whether the page or the given part is wider than a phone's screen. */
export async function examine(page: Page, place: string, part = page.locator('html')): Promise<string[]> {
  const found = await seriousFindingsInBothSchemes(page, place);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  const hiddenPx = await part.evaluate((element) => element.scrollWidth - element.clientWidth);
  if (size) await page.setViewportSize(size);
  return hiddenPx > 0 ? [...found, `${place} is ${hiddenPx} pixels too wide for a phone`] : found;
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
