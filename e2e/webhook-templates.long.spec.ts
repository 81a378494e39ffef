import { webhookUrls } from './charting-platform.ts';
import { expect, test } from './fixtures.ts';
import { expectToast } from './screen.ts';
import { clipboard, createWebhook } from './webhook-screen.ts';

/** Placeholder values as TradingView fills them in on a chart of a perpetual contract. */
const filled = (action: string, interval: string, time: string): Readonly<Record<string, string>> => ({
  '{{ticker}}': 'BTCUSDT.P',
  '{{strategy.order.action}}': action,
  '{{interval}}': interval,
  '{{time}}': '2026-11-21T14:30:00Z',
  '{{timenow}}': time,
  '{{open}}': '97001.2',
  '{{high}}': '97210.5',
  '{{low}}': '96950.1',
  '{{close}}': '97098.87',
  '{{volume}}': '182.4',
  '{{strategy.prev_market_position}}': 'flat',
  '{{strategy.market_position}}': action === 'buy' ? 'long' : 'short',
  '{{strategy.prev_market_position_size}}': '0',
  '{{strategy.market_position_size}}': '0.5',
  '{{plot_0}}': '420.153',
  '{{plot_1}}': '1',
  '{{plot_2}}': '-1',
});

const TEMPLATES = [
  { name: 'Buy signal message', kind: 'signalUrl' },
  { name: 'Sell signal message', kind: 'signalUrl' },
  { name: 'Strategy signal message', kind: 'signalUrl' },
  { name: 'Close signal message', kind: 'signalUrl' },
  { name: 'Reduce signal message', kind: 'signalUrl' },
  { name: 'Candle message', kind: 'priceUrl' },
  { name: 'Candle message with ATR and trends', kind: 'priceUrl' },
] as const;

/** A candle without these is stored. */
const OPTIONAL = ['{{open}}', '{{high}}', '{{low}}', '{{volume}}', '{{plot_0}}', '{{plot_1}}', '{{plot_2}}'];

const placeholdersOf = (text: string) => [...new Set(text.match(/\{\{[^}]+\}\}/g))];
const fill = (text: string, values: Readonly<Record<string, string>>, except?: string) =>
  placeholdersOf(text)
    .filter((placeholder) => placeholder !== except)
    .reduce(
      (filledIn, placeholder) => filledIn.replaceAll(placeholder, values[placeholder] ?? placeholder),
      text,
    );

// Requirements: webhook-deliveries-30
test('every filled-in alert message is accepted; an unfilled placeholder is refused where it is needed', async ({
  page,
  operator,
  signIn,
  context,
  server,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  await signIn(page, await operator.createUser());
  await page.goto('/webhook');
  const urls = webhookUrls(server.url, await createWebhook(page));
  await expect(page.locator('summary')).toHaveCount(TEMPLATES.length);

  for (const { name, kind } of TEMPLATES) {
    const post = (body: string) =>
      fetch(urls[kind], { method: 'POST', headers: { 'content-type': 'text/plain; charset=utf-8' }, body });
    await page.getByRole('button', { name: `Copy ${name}`, exact: true }).click();
    await expectToast(page, { title: 'Copied', text: `${name} copied to clipboard` });
    const text = await clipboard(page);
    await page.locator('summary').filter({ hasText: name }).first().click();

    for (const placeholder of placeholdersOf(text)) {
      const values = filled('buy', '15', '2026-11-21T14:45:01Z');
      const answer = await post(fill(text, values, placeholder));
      const isNeeded = !OPTIONAL.includes(placeholder);
      expect(answer.status, `${name} without ${placeholder}`).toBe(isNeeded ? 400 : 200);
      if (!isNeeded) continue;
      expect(((await answer.json()) as { message: string }).message).toContain(
        `is still the placeholder ${placeholder}`,
      );
    }
    for (const [action, interval] of [
      ['buy', '15'],
      ['sell', '240'],
      ['buy', '1D'],
    ] as const) {
      const body = fill(text, filled(action, interval, `2026-11-21T14:45:${interval.slice(0, 1)}1Z`));
      const answer = await post(body);
      expect(await answer.json(), `${name}, filled in: ${body}`).toMatchObject({ success: true });
    }
  }
});

test('shows the text of a message on demand, with a note on the plots', async ({ page }) => {
  await page.goto('/configuration');
  const text = page.getByRole('region', { name: 'Candle message with ATR and trends' });
  await expect(text).toBeHidden();
  await page.locator('summary').filter({ hasText: 'with ATR and trends' }).press('Enter');
  await expect(text).toContainText('"ATR": "{{plot_0}}"');
  await expect(page.getByRole('main')).toContainText('{{plot("ATR")}}');
});
