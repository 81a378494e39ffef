import { expect, test } from './fixtures.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: { DEPLOYMENT_ID: 'deployment-1' } });

test('in a production deployment nothing is triggered by hand, and the buttons say why', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const signal = await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await signIn(page);
  await page.goto(`/signals?token=${signal.token}`);
  const trigger = page.getByRole('button', { name: /^Trigger the workflow of signal/ });
  await expect(trigger).toBeDisabled();
  await trigger.locator('..').hover();
  await expect(page.getByRole('tooltip')).toHaveText('Manual triggers disabled in production');

  // The button alone guards nothing.
  for (const { path, data } of [
    { path: '/api/trigger-automation', data: { signalId: signal.id } },
    { path: `/api/automation/trigger/${signal.id}`, data: {} },
  ]) {
    const answer = await page.request.post(`${server.url}${path}`, { data, headers: { origin: server.url } });
    expect([answer.status(), await answer.json()]).toEqual([
      403,
      { message: 'Manual triggers disabled in production' },
    ]);
  }
});
