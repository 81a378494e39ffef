// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  dialog,
  eventually,
  expectGone,
  held,
  isDisabled,
  page,
  recorded,
  renderApp,
  rowsOf,
  textIn,
} from '#test/web/render-app.tsx';

const headings = () =>
  page()
    .getAllByRole('columnheader')
    .map((header) => header.textContent);
const columns = async () => await page().findByRole('button', { name: /^Columns/ });
const column = (name: string | RegExp) => page().findByRole('menuitemcheckbox', { name });

// Requirements: additions-finding-keys-and-columns-4
test('the slash key focuses the first filter, and types a slash in a text field', async () => {
  for (const [path, label] of [
    ['/signals', 'Token'],
    ['/price-logs', 'Token'],
    ['/automation-workflows', 'Processor'],
  ] as const) {
    const app = renderApp(path);
    const filter = await page().findByLabelText(label);
    await app.user.keyboard('/');
    await eventually(() => expect(document.activeElement).toBe(filter));
  }
  const app = renderApp('/create-client?dialog=create');
  const firstName = (await dialog('Create New User')).getByLabelText('First Name');
  await app.user.type(firstName, 'a/b?');
  expect(textIn(firstName)).toBe('a/b?');
  expect(page().getAllByRole('dialog')).toHaveLength(1);
});

testEveryCase(
  'the question mark lists the shortcuts, and those without Ctrl can be switched off',
  async () => {
    const app = renderApp('/signals');
    const filter = () => page().findByLabelText('Token');
    const toggle = async () => {
      const help = await dialog('Keyboard Shortcuts');
      await app.user.click(help.getByRole('switch', { name: /^Single-key shortcuts/ }));
      await app.user.keyboard('{Escape}');
      await expectGone(() => page().queryByRole('dialog'));
    };
    await filter();
    await app.user.keyboard('?');
    const help = await dialog('Keyboard Shortcuts');
    for (const text of [
      'Go to the first filter',
      'Previous and next page',
      'Show this list',
      'Close a dialog',
    ]) {
      expect(help.element.textContent).toContain(text);
    }
    await app.user.keyboard('/');
    page().getByRole('dialog');
    await toggle();
    app.reload();
    await filter();
    await app.user.keyboard('/?');
    expect(document.activeElement).not.toBe(await filter());
    expect(page().queryByRole('dialog')).toBeNull();
    await app.user.keyboard('{Control>}k{/Control}');
    await eventually(async () =>
      expect(document.activeElement).toBe(await page().findByRole('combobox', { name: 'Search' })),
    );
    await app.user.keyboard('keyboard{Enter}');
    await toggle();
    await app.user.keyboard('/');
    await eventually(async () => expect(document.activeElement).toBe(await filter()));
  },
);

// Requirements: additions-finding-keys-and-columns-1, additions-finding-keys-and-columns-5
testEveryCase('columns can be hidden by keyboard, stay hidden, and are restored together', async () => {
  const app = renderApp('/signals');
  await eventually(() => expect(rowsOf('Signal History').length).toBeGreaterThan(0));
  const all = headings();
  (await columns()).focus();
  await app.user.keyboard('{Enter}');
  expect(isDisabled(await column('ID'))).toBe(true);
  await eventually(async () => expect(document.activeElement).toBe(await column('Token')));
  await app.user.keyboard('{Enter}{ArrowDown}{ArrowDown} ');
  expect((await column('Price')).getAttribute('aria-checked')).toBe('false');
  await app.user.keyboard('{Escape}');
  await expectGone(() => page().queryByRole('menu', { name: 'Columns' }));
  await eventually(async () => expect(document.activeElement).toBe(await columns()));
  const fewer = all.filter((name) => name !== 'Token' && name !== 'Price');
  expect(headings()).toEqual(fewer);
  expect(rowsOf('Signal History')[0]?.querySelectorAll('td')).toHaveLength(fewer.length);
  app.reload();
  await eventually(() => expect(headings()).toEqual(fewer));
  expect((await columns()).textContent).toContain('2 hidden');
  await app.user.click(await columns());
  await app.user.click(await page().findByRole('menuitem', { name: 'Show all' }));
  expect(headings()).toEqual(all);
});

testEveryCase('ignores invalid stored columns', async () => {
  const app = renderApp('/price-logs');
  for (const [remembered, count] of [
    ['{"id":true}', 11],
    ['["id","hash"]', 10],
  ] as const) {
    localStorage.setItem('hidden-columns:price-logs', remembered);
    app.reload();
    await eventually(() => expect(headings()).toHaveLength(count));
    expect(headings()).toContain('ID');
  }
  expect(headings()).not.toContain('Hash Value');
});

test('a refresh button keeps the focus and ignores presses while it fetches', async () => {
  const LOGS = 'GET /api/price-logs';
  const app = renderApp('/price-logs');
  const refresh = await page().findByRole('button', { name: 'Refresh' });
  await eventually(() => expect(rowsOf('Price Logs').length).toBeGreaterThan(0));
  const answering = held(recorded[LOGS]);
  app.answers[LOGS] = answering.promise;
  const before = app.sent(LOGS).length;
  refresh.focus();
  await app.user.keyboard('{Enter}');
  const isBusy = () => isDisabled(refresh) || refresh.getAttribute('aria-disabled') === 'true';
  await eventually(() => expect(isBusy()).toBe(true));
  expect(document.activeElement).toBe(refresh);
  await app.user.keyboard('{Enter}');
  answering.release();
  await eventually(() => expect(isBusy()).toBe(false));
  expect(document.activeElement).toBe(refresh);
  expect(app.sent(LOGS)).toHaveLength(before + 1);
});
