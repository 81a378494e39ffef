import type { Page } from '@playwright/test';
import { webhookUrls } from './charting-platform.ts';
import { expect, test } from './fixtures.ts';
import { createWebhook } from './webhook-screen.ts';

const example = async (page: Page, name: string) => {
  const text = await page.getByRole('region', { name: `${name} example payload` }).textContent();
  return JSON.parse(text ?? '') as Record<string, unknown>;
};

// Requirements: screens-webhook-configuration-8, accounts-fields-8, accounts-fields-9
test('the examples of both endpoints have every field and are accepted unchanged', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  await signIn(page, await operator.createUser());
  await page.goto('/webhook');
  const urls = webhookUrls(server.url, await createWebhook(page));
  const signal = await example(page, 'Signal');
  expect(Object.keys(signal)).toEqual(['symbol', 'action', 'price', 'timeframe', 'processor']);
  expect(signal).toMatchObject({ action: 'buy', price: expect.stringMatching(/^\d/) });
  const candle = await example(page, 'Price data');
  expect(Object.keys(candle).sort()).toEqual(
    'Close Currency DateTime High Low MACD Open RSI Symbol Timeframe Volume'.split(' '),
  );
  expect(candle).toMatchObject({ Timeframe: '15', DateTime: expect.stringMatching(/^\d{12}$/) });

  for (const [url, body] of [
    [urls.signalUrl, signal],
    [urls.priceUrl, candle],
  ] as const) {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ success: true, duplicate: false });
  }
});
