import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/**
 * Every rule of axe; what it found in order is neither described nor sent back, which takes longer than the looking.
 * There are no frames, for whose sake axe would gather its results in another page.
 */
export const axe = (page: Page): AxeBuilder =>
  new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });

export type AxeResults = Awaited<ReturnType<AxeBuilder['analyze']>>;
