import { PAGES } from '#contract/pages.ts';
import { LOGIN_KIB, PAGE_KIB, totalBeyond, totalKib, weighScripts } from '../bench/browsers.ts';
import { calculatorCase } from './calculator-screen.ts';
import { expect, test } from './fixtures.ts';

test.use({ startsSignedIn: false });

test('the login and every page stay within their JavaScript budgets', async ({
  context,
  page,
  server,
  signIn,
  operator,
}) => {
  const user = await operator.createUser();
  const calculator = await calculatorCase(operator);
  const login = await weighScripts(context, `${server.url}/login`);
  expect(login.size).toBeGreaterThan(0);
  expect(totalKib(login), 'KiB of the login').toBeLessThanOrEqual(LOGIN_KIB);

  await signIn(page);
  const paths = [...PAGES.map(({ path }) => path), '/admin', `/settings?userId=${user.id}`, calculator.path];
  for (const path of paths) {
    const scripts = await weighScripts(context, server.url + path);
    const kib = totalBeyond(scripts, login);
    expect(kib, `KiB of ${path} beyond the login`).toBeGreaterThan(0);
    expect.soft(kib, `KiB of ${path} beyond the login`).toBeLessThanOrEqual(PAGE_KIB);
  }
});
