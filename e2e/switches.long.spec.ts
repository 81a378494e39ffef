import type { Locator } from '@playwright/test';
import { expect, test } from './fixtures.ts';

/** The WCAG contrast of the switch's track against its background. */
const contrastOf = (control: Locator) =>
  control.evaluate((input) => {
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
        const share = Number(part) / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const background = (from: Element | null): string => {
      if (from === null) return 'rgb(255, 255, 255)';
      const color = getComputedStyle(from).backgroundColor;
      return color === 'rgba(0, 0, 0, 0)' ? background(from.parentElement) : color;
    };
    const track = input.parentElement?.querySelector('.mantine-Switch-track') ?? null;
    const [high = 0, low = 0] = [background(track), background(track?.parentElement ?? null)]
      .map(luminance)
      .sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  });

// Requirements: additions-everywhere-2
test('a switch that is off is visible and does not look disabled, in both schemes', async ({
  page,
  operator,
  server,
}) => {
  const user = await operator.createUser();
  for (const colorScheme of ['light', 'dark'] as const) {
    // Contrast cannot be measured halfway through a colour transition.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto(`/create-client?search=${encodeURIComponent(user.username)}`);
    const off = page.getByRole('switch', { name: `Active trading of ${user.username}` });
    await expect(off).not.toBeChecked();
    const seen = await contrastOf(off);
    expect(seen).toBeGreaterThanOrEqual(3);
    await page.goto(`/create-client?search=${encodeURIComponent(server.adminUsername)}`);
    const disabled = page.getByRole('switch', { name: `Status of ${server.adminUsername}` });
    await expect(disabled).toBeDisabled();
    expect(await contrastOf(disabled)).toBeLessThan(seen / 1.5);
  }
});
