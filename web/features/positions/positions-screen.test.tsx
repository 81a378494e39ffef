// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  alertOf,
  descriptionOf,
  dialog,
  eventually,
  expectGone,
  expectToast,
  Failure,
  failure,
  fill,
  findTitle,
  ids,
  isDisabled,
  page,
  recorded,
  renderApp,
  rowOf,
  rowsOf,
  savedFiles,
  scopeOf,
  textIn,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const POSITIONS = 'GET /api/positions';
const CLOSE = 'POST /api/positions/close';
const MINE = 'GET /api/my-positions';
const answer = recorded[POSITIONS];
const [position] = answer.open;
const none = recorded[MINE];

const figure = (label: string) =>
  page()
    .getAllByText(label)
    .find((one) => one.tagName === 'DT')?.nextElementSibling?.textContent;

test('says in each part that there are no positions', async () => {
  renderApp('/positions', { [POSITIONS]: none });
  await page().findByText(/^As the exchanges report them, as of \d{4}\//);
  for (const [table, text] of [
    ['Open Positions', 'No open positions'],
    ['Closed Positions', 'No closed positions yet'],
    ['Totals per user', 'No positions yet'],
    ['Totals per token', 'No positions yet'],
  ] as const) {
    expect(page().getByRole('table', { name: table }).textContent).toContain(text);
  }
  expect(figure('Open Positions')).toBe('0');
  expect(figure('Net Profit')).toContain('$0.00');
  expect(page().queryByRole('img', { name: /^Cumulative profit/ })).toBeNull();
});

// Requirements: additions-order-and-positions-6
test('reports why a close failed, also in the dialog, and allows a retry', async () => {
  const refused = 'The exchange refused the order: 40762';
  const app = renderApp('/positions', { [CLOSE]: { success: false, message: refused } });
  const { getByRole } = await rowOf('Open Positions', 'follower@example.com');
  await app.user.click(getByRole('button', { name: /^Close ETH position/ }));
  const question = await dialog('Close Position - ETH');
  for (const text of ['follower@example.com', 'Long', '22.6 ETH', '$3,000.00', '10x']) {
    expect(question.element.textContent).toContain(text);
  }
  const close = async () => await app.user.click(question.getByRole('button', { name: 'Close Position' }));
  await close();
  await expectToast('Failed to Close Position', refused);
  expect(question.getByRole('alert').textContent).toContain(refused);
  const underWay = 'An order of this user in ETH is under way';
  app.answers[CLOSE] = failure(409, underWay);
  await close();
  await expectToast('Failed to Close Position', underWay);
  expect(question.getByRole('alert').textContent).toContain(underWay);
  app.answers[CLOSE] = { success: true, message: 'Closed' };
  app.answers[POSITIONS] = none;
  await close();
  await expectToast('Position Closed');
  await expectGone(() => page().queryByRole('dialog'));
  expect(app.sent(CLOSE).at(-1)?.body).toEqual({
    userId: position?.userId,
    token: 'ETH',
    percent: 100,
  });
});

// Requirements: additions-order-and-positions-13
test('closes a half from the row, or another part chosen in the dialog', async () => {
  const app = renderApp('/positions', { [CLOSE]: { success: true, message: '11.3 stays open' } });
  const { getByRole } = await rowOf('Open Positions', 'follower@example.com');
  await app.user.click(getByRole('button', { name: /^Close 50 % of the ETH position/ }));
  const question = await dialog('Close Position - ETH');
  expect(question.element.textContent).toContain('The rest stays open with its stop and target.');
  await app.user.click(question.getByRole('button', { name: '25 %' }));
  await app.user.click(question.getByRole('button', { name: 'Close 25 %' }));
  await expectToast('Part Closed', '11.3 stays open');
  await expectGone(() => page().queryByRole('dialog'));
  expect(app.sent(CLOSE).at(-1)?.body).toMatchObject({ token: 'ETH', percent: 25 });
});

describe('the side panel of a position', () => {
  const CANDLES = 'GET /api/price-logs/candles';
  const panel = async (name: string) => scopeOf(await page().findByRole('complementary', { name }));
  const titleOf = ({ username }: { username: string }) => `ETH Long 10×, ${username}`;
  const [first, second] = answer.open as [typeof position & object, typeof position & object];

  // Requirements: additions-panel-4
  test('opens from a row, with the price between entry, stop and target, and closes the position', async () => {
    const app = renderApp('/positions', { [CLOSE]: { success: true, message: 'Closed' } });
    const { element } = await rowOf('Open Positions', 'follower@example.com');
    expect(app.sent(CANDLES)).toEqual([]);
    await app.user.click(element.querySelectorAll('td')[2] ?? element);
    const side = await panel(titleOf(first));
    expect(element.hasAttribute('data-selected')).toBe(true);
    expect(side.element.textContent).toContain('Tesla 15m, Bitget, opened 20');
    const chart = await side.findByRole('img', {
      name: /^ETH 15m\. .* Entry 3000, Stop 2955, Target 3090\.$/,
    });
    expect(chart).toBeTruthy();
    expect(app.sent(CANDLES)[0]?.query).toMatchObject({ token: 'ETH', timeframe: '15' });
    expect(figure('Stop')).toBe('$2,955.00, −1.5 %');
    expect(side.getByRole('link', { name: 'Signal' }).getAttribute('href')).toBe(
      `/signals?panel=outcome&signal=${ids.signal}`,
    );
    await app.user.click(side.getByRole('button', { name: 'Close…' }));
    const question = await dialog('Close Position - ETH');
    app.answers[POSITIONS] = { ...answer, open: [second] };
    await app.user.click(question.getByRole('button', { name: 'Close Position' }));
    await expectToast('Position Closed');
    await side.findByText('The exchange does not report this position any more');
  });

  // Requirements: additions-panel-4
  test('is walked with J and K in the order of the groups, closed with Esc, and restored', async () => {
    const other = { ...second, username: 'a-trader@example.com', processor: 'UD Bot' };
    const third = { ...first, side: 'short' as const, username: 'third@example.com' };
    const app = renderApp('/positions?group=strategy', {
      [POSITIONS]: { ...answer, open: [first, other, third] },
    });
    await rowOf('Open Positions', 'third@example.com');
    await app.user.keyboard('j');
    await panel(titleOf(first));
    await app.user.keyboard('j');
    const side = await panel('ETH Short 10×, third@example.com');
    app.reload();
    await panel('ETH Short 10×, third@example.com');
    await app.user.keyboard('j');
    await panel(titleOf(other));
    await app.user.keyboard('k');
    await panel('ETH Short 10×, third@example.com');
    expect(side).toBeTruthy();
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('complementary'));
    expect(app.address()).toBe('/positions?group=strategy');
  });

  // Requirements: additions-panel-4
  testEveryCase(
    'shows no chart for a position that no signal opened here, and the levels that there are',
    async () => {
      const elsewhere = { tradeId: null, processor: null, signalId: null, timeframe: null };
      const app = renderApp('/positions', {
        [POSITIONS]: { ...answer, open: [{ ...first, ...elsewhere, stopLoss: null }] },
      });
      await rowOf('Open Positions', 'follower@example.com');
      await app.user.keyboard('j');
      const side = await panel(titleOf(first));
      expect(side.element.textContent).toContain('Not opened here, Bitget');
      expect(side.element.textContent).toContain('no timeframe is known for a chart');
      expect(figure('Stop')).toBe('None');
      expect(app.sent(CANDLES)).toEqual([]);
      expect(side.queryByRole('button', { name: 'Move…' })).toBeNull();
    },
  );
});

const MOVE = 'PUT /api/positions/protection';

const openMove = async (app: ReturnType<typeof renderApp>) => {
  const { getByRole } = await rowOf('Open Positions', 'follower@example.com');
  await app.user.click(getByRole('button', { name: /^Move stop and target of the ETH position/ }));
  return await dialog('Move Stop and Target - ETH');
};

// Requirements: additions-order-and-positions-15
test('moves the stop by the tick, shows what it means, and sends only what was changed', async () => {
  const message = 'The stop is moved from 2940 to 2940.01';
  const app = renderApp('/positions', {
    [POSITIONS]: { ...answer, open: [{ ...position, stopLoss: '2940', takeProfit: '3120', side: 'long' }] },
    'GET /api/positions/protection': { tickSize: '0.01' },
    [MOVE]: { success: true, isPending: false, message },
  });
  const question = await openMove(app);
  const stop = question.getByLabelText('Stop Loss');
  expect(descriptionOf(stop)).toContain('2.00 % below the mark, closes at −$');
  await eventually(() =>
    expect(isDisabled(question.getByRole('button', { name: 'Stop Loss: one tick up' }))).toBe(false),
  );
  await app.user.click(question.getByRole('button', { name: 'Stop Loss: one tick up' }));
  await app.user.type(stop, '{ArrowUp}{ArrowDown}');
  expect(textIn(stop)).toBe('2940.01');
  expect(question.queryByText('More risk')).toBeNull();
  await app.user.click(question.getByRole('button', { name: 'Move' }));
  await expectToast('Stop and Target Moved', message);
  await expectGone(() => page().queryByRole('dialog'));
  expect(app.sent(MOVE).at(-1)?.body).toEqual({
    userId: position?.userId,
    token: 'ETH',
    stopLoss: '2940.01',
  });
});

// Requirements: additions-order-and-positions-15
testEveryCase(
  'says before a stop is moved away that the risk grows, and why a price does not fit',
  async () => {
    const app = renderApp('/positions', {
      [POSITIONS]: { ...answer, open: [{ ...position, stopLoss: '2940', takeProfit: '3120', side: 'long' }] },
      'GET /api/positions/protection': { tickSize: '0.01' },
    });
    const question = await openMove(app);
    const stop = question.getByLabelText('Stop Loss');
    fill(stop, '2900');
    await question.findByText('More risk');
    fill(stop, '3100');
    await question.findByText('Has to be below the mark price 3000');
    fill(stop, '');
    await question.findByText('Enter a price above 0');
    await app.user.click(question.getByRole('button', { name: 'Move' }));
    expect(app.sent(MOVE)).toEqual([]);
  },
);

testEveryCase('shows why a move failed, also at the field that the server names', async () => {
  const app = renderApp('/positions', {
    [POSITIONS]: { ...answer, open: [{ ...position, stopLoss: '2940', takeProfit: '3120', side: 'long' }] },
    'GET /api/positions/protection': { tickSize: '0.01' },
    [MOVE]: { success: false, isPending: false, message: 'The stop stays at 2940, not 2950: refused' },
  });
  const question = await openMove(app);
  fill(question.getByLabelText('Stop Loss'), '2950');
  const send = async () => await app.user.click(question.getByRole('button', { name: 'Move' }));
  await send();
  await expectToast('Move Not Confirmed', 'The stop stays at 2940, not 2950: refused');
  expect(question.getByRole('alert').textContent).toContain('The stop stays at 2940');
  const far = 'The stop loss has to come before the liquidation price 2950';
  app.answers[MOVE] = new Failure(400, { message: far, errors: [{ path: 'stopLoss', message: far }] });
  await send();
  await question.findByText(far);
});

/** Three open positions of other tokens and users. */
const [openPosition] = answer.open;
const several = ['BTC', 'SOL', 'TON'].map((token, index) => ({
  ...openPosition,
  token,
  username: `user${index}@example.com`,
  unrealisedProfit: String(index * 10 - 15),
  margin: '100',
}));

// Requirements: additions-order-and-positions-16
test('closes the selected positions after one confirmation with their sum, each for itself', async () => {
  const app = renderApp('/positions', {
    [POSITIONS]: { ...answer, open: several },
    [CLOSE]: { success: true, message: 'Closed' },
  });
  await rowOf('Open Positions', 'user0@example.com');
  const select = async (name: string) => await app.user.click(page().getByRole('checkbox', { name }));
  await select('Select all open positions');
  await select('Select SOL position of user1@example.com');
  await app.user.click(page().getByRole('button', { name: 'Close 2...' }));
  const question = await dialog('Close 2 Positions');
  expect(question.element.textContent).toContain('−$10.00');
  expect(question.element.textContent).toContain('$200.00');
  await app.user.click(question.getByRole('button', { name: 'Close 2 Positions' }));
  await expectToast('Positions Closed', '2 positions were closed');
  await expectGone(() => page().queryByRole('dialog'));
  expect(app.sent(CLOSE).map(({ body }) => (body as { token: string }).token)).toEqual(['BTC', 'TON']);
});

// Requirements: additions-order-and-positions-16
testEveryCase(
  'says of each selected position why it could not be closed, and tries those again',
  async () => {
    const app = renderApp('/positions', {
      [POSITIONS]: { ...answer, open: several },
      [CLOSE]: ({ body }: { body: unknown }) =>
        (body as { token: string }).token === 'SOL'
          ? { success: false, message: 'The exchange refused the order: 40762' }
          : { success: true, message: 'Closed' },
    });
    await rowOf('Open Positions', 'user0@example.com');
    await app.user.click(page().getByRole('checkbox', { name: 'Select all open positions' }));
    await app.user.click(page().getByRole('button', { name: 'Close 3...' }));
    const question = await dialog('Close 3 Positions');
    await app.user.click(question.getByRole('button', { name: 'Close 3 Positions' }));
    await question.findByText('The exchange refused the order: 40762');
    expect(question.getAllByText('Closed')).toHaveLength(2);
    app.answers[CLOSE] = { success: true, message: 'Closed' };
    await app.user.click(question.getByRole('button', { name: 'Try Again' }));
    await expectToast('Positions Closed', '1 position was closed');
    expect(app.sent(CLOSE)).toHaveLength(4);
  },
);

// Requirements: additions-order-and-positions-17
test('shows the way from stop to target in a row, and that there is no stop', async () => {
  const [first, second] = several;
  renderApp('/positions', {
    [POSITIONS]: {
      ...answer,
      open: [
        { ...first, side: 'short', entryPrice: '100', markPrice: '99', stopLoss: '102', takeProfit: '96' },
        { ...second, stopLoss: null },
      ],
    },
  });
  const row = await rowOf('Open Positions', 'user0@example.com');
  const [bar] = row.getAllByRole('img', {
    name: 'Stop $102.00 (+3.0 %), target $96.00 (−3.0 %)',
  });
  expect(bar?.style.getPropertyValue('--mark')).toBe('0.5');
  expect(row.element.textContent).toContain('▼ BTC Short 10× · user0@example.com');
  expect((await rowOf('Open Positions', 'user1@example.com')).element.textContent).toContain('No stop');
});

// Requirements: additions-order-and-positions-17
test('shows the profit after fees first, then gross and fees', async () => {
  const [closed] = answer.closed;
  renderApp('/positions', {
    [POSITIONS]: { ...answer, closed: [{ ...closed, realisedProfit: '10', fees: '12.5' }] },
  });
  const table = scopeOf(await page().findByRole('table', { name: 'Closed Positions' }));
  expect(table.element.textContent).toContain('−$2.50+$10.00 gross, $12.50 fees');
});

// Requirements: additions-order-and-positions-18
test('saves all closed positions of the filters as CSV', async () => {
  const [closed] = answer.closed;
  const app = renderApp(`/positions?userId=${ids.user}&token=SOL`, {
    'GET /api/positions/closed': { closed: [{ ...closed, realisedProfit: '10', fees: '0.3' }], total: 1 },
  });
  await app.user.click(await page().findByRole('button', { name: 'Export CSV' }));
  await expectToast('CSV Exported', /1 rows in closed-positions-/);
  const [file] = savedFiles;
  const [head, row] = ((await file?.blob.text()) ?? '').split('\r\n');
  expect(head).toContain('Net Profit,Gross Profit,Fees');
  expect(row).toContain(',9.7,10,0.3,');
  expect(app.sent('GET /api/positions/closed').at(-1)?.query).toMatchObject({
    userId: ids.user,
    token: 'SOL',
  });
});

testEveryCase("says in the dialog when the position's stop is hit in the meantime", async () => {
  const app = renderApp('/positions');
  const row = await rowOf('Open Positions', 'follower@example.com');
  await app.user.click(row.getByRole('button', { name: /^Close ETH position/ }));
  const question = await dialog('Close Position - ETH');
  app.answers[POSITIONS] = none;
  await app.user.click(page().getByRole('button', { name: 'Refresh' }));
  await question.findByText(/No longer open/);
});

// Requirements: additions-order-and-positions-14
test('groups open positions by token, user or strategy, each with its sum', async () => {
  const [first, second] = answer.open;
  const open = [
    { ...first, token: 'ETH', username: 'ann@example.com', processor: 'Tesla', unrealisedProfit: '10.5' },
    { ...second, token: 'BTC', username: 'bob@example.com', processor: null, unrealisedProfit: '-4' },
    { ...second, token: 'ETH', username: 'bob@example.com', processor: 'Tesla', unrealisedProfit: '-20.25' },
  ];
  const app = renderApp('/positions', { [POSITIONS]: { ...answer, open } });
  await rowOf('Open Positions', 'ann@example.com');
  const heads = () =>
    scopeOf(page().getByRole('table', { name: 'Open Positions' }))
      .queryAllByRole('rowheader')
      .map((head) => head.textContent);
  expect(heads()).toEqual([]);
  const choose = (name: string) => app.user.click(page().getByRole('button', { name }));
  await choose('Token');
  expect(heads()).toEqual(['ETH2 positions−$9.75', 'BTC1 position−$4.00']);
  expect(app.address()).toBe('/positions?group=token');
  await choose('User');
  expect(heads()).toEqual(['ann@example.com1 position+$10.50', 'bob@example.com2 positions−$24.25']);
  await choose('Strategy');
  expect(heads()).toEqual(['Tesla2 positions−$9.75', 'Not opened here1 position−$4.00']);
  await choose('All');
  expect(heads()).toEqual([]);
  expect(app.address()).toBe('/positions');
});

testEveryCase('keeps the filters in the URL', async () => {
  const app = renderApp('/positions');
  await page().findByRole('option', { name: 'SOL' });
  await app.user.selectOptions(page().getByLabelText('Token'), 'SOL');
  await page().findByRole('option', { name: 'other@example.com' });
  await eventually(() => expect(app.address()).toBe('/positions?token=SOL'));
  await app.user.selectOptions(page().getByLabelText('User'), 'other@example.com');
  await eventually(() => expect(app.address()).toContain('userId='));
  expect(app.sent(POSITIONS).at(-1)?.query).toMatchObject({ token: 'SOL', userId: answer.open[1]?.userId });
});

// Requirements: additions-order-and-positions-8
test('shows differences, unreadable accounts and cheap tokens', async () => {
  const pepe = {
    ...position,
    token: 'PEPE',
    quantity: '1250000',
    entryPrice: '0.00001234',
    stopLoss: null,
    tradeId: null,
    differences: ['Not opened by this product', 'The stop loss is missing at the exchange'],
  };
  const unreachable = [
    { userId: 'x', username: 'carl@example.com', message: 'Bybit did not answer', hidden: [] },
  ];
  renderApp('/positions', { [POSITIONS]: { ...answer, open: [pepe, position], unreachable } });
  const row = await rowOf('Open Positions', 'PEPE');
  for (const text of ['1,250,000', '$0.00001234', 'No stop']) expect(row.element.textContent).toContain(text);
  const lists = page().getAllByRole('list', { name: 'Differences' });
  expect(lists).toHaveLength(1);
  const [list = document.body] = lists;
  expect(
    scopeOf(list)
      .getAllByRole('listitem')
      .map((item) => item.textContent),
  ).toEqual(pepe.differences);
  const silent = (await page().findByText('1 account could not be read in full.')).closest('[role="status"]');
  expect(silent?.textContent).toContain('carl@example.com: Bybit did not answer');
});

testEveryCase('keeps the data when a refresh fails, and removes the notice after the next one', async () => {
  const app = renderApp('/positions', { [POSITIONS]: UNREACHABLE });
  const failed = await alertOf('Failed to fetch positions');
  expect(failed.element.textContent).toContain('The server cannot be reached');
  delete app.answers[POSITIONS];
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await rowOf('Open Positions', 'follower@example.com');
  app.answers[POSITIONS] = UNREACHABLE;
  await app.user.click(page().getByRole('button', { name: 'Refresh' }));
  await alertOf('Failed to fetch positions');
  expect(rowsOf('Open Positions')).toHaveLength(2);
  delete app.answers[POSITIONS];
  await app.user.click(page().getByRole('button', { name: 'Refresh' }));
  await expectGone(() => page().queryByText('Failed to fetch positions'));
});

describe('own positions on the dashboard', () => {
  // Requirements: additions-order-and-positions-7
  test('are shown with their figures and no way to close them, and a failed fetch is reported', async () => {
    const mine = { ...position, token: 'ETH', quantity: '3.33', margin: '999', unrealisedProfit: '99.9' };
    const totals = { ...none.totals, openCount: 1, unrealisedProfit: '99.9', margin: '999' };
    const app = renderApp('/', { [MINE]: UNREACHABLE }, { user: { isAdmin: false } });
    const failed = await alertOf('Failed to fetch positions');
    app.answers[MINE] = { ...none, open: [mine], totals };
    await app.user.click(failed.getByRole('button', { name: 'Try again' }));
    const own = await page().findByRole('list', { name: 'My open positions' });
    for (const text of ['ETH', 'Long', '3.33 at $3,000.00', '+$99.90 (+10.00%)']) {
      expect(own.textContent).toContain(text);
    }
    expect(figure('Unrealised profit')).toBe('+$99.90');
    expect(page().queryByRole('link', { name: 'All positions' })).toBeNull();
    expect(page().queryByRole('button', { name: /^Close/ })).toBeNull();
  });

  // Requirements: additions-order-and-positions-7
  testEveryCase('link administrators to the positions of all users', async () => {
    const app = renderApp('/');
    await page().findByText('No open positions');
    await app.user.click(page().getByRole('link', { name: 'All positions' }));
    await findTitle('Positions');
  });
});

// Requirements: additions-exits-23
test('shows what of the exit plan of a position is done and what is still to come', async () => {
  const exits = {
    parts: [
      { atR: '1', price: '3060', quantity: '11.3', isDone: true },
      { atR: '1.5', price: '3090', quantity: '5.6', isDone: false },
    ],
    breakEven: { atPrice: '3060', stopLoss: '3000', isDone: false },
    trail: { percent: '1.5' },
    until: '2026-11-24T10:00:00.000Z',
    problem: 'Bitget: no (40020)',
    ended: null,
  };
  const other = { ...position, token: 'BTC', exits: { ...exits, trail: { distance: '920.07' } } };
  renderApp('/positions', { [POSITIONS]: { ...answer, open: [{ ...position, exits }, other] } });
  const stepsOf = async (token: string) => {
    const [plan] = await page().findAllByRole('list', { name: `Exit plan of the ${token} position` });
    return [...(plan?.children ?? [])].map(({ textContent }) => textContent);
  };
  expect(await stepsOf('BTC')).toContain('Stop trails by $920.07');
  expect(await stepsOf('ETH')).toEqual([
    '✓ Closed 11.3 at $3,060.00 (1 R)',
    'Closes 5.6 at $3,090.00 (1.5 R)',
    'Stop to $3,000.00 at $3,060.00',
    'Stop trails by 1.5 %',
    expect.stringMatching(/^Closes \d/),
    'Not done yet, tried again: Bitget: no (40020)',
  ]);
});

// Requirements: additions-exits-27
test('says why an exit plan has ended', async () => {
  const nothing = { parts: [], breakEven: null, trail: null, until: null, problem: null };
  const exits = { ...nothing, ended: 'the database was restored' };
  renderApp('/positions', { [POSITIONS]: { ...answer, open: [{ ...position, exits }] } });
  const [plan] = await page().findAllByRole('list', { name: 'Exit plan of the ETH position' });
  expect(plan?.textContent).toBe('Ended: the database was restored');
});
