// @vitest-environment jsdom
import { act } from '@testing-library/react';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { firstCases, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import {
  type Answers,
  type App,
  alertOf,
  dialog,
  eventually,
  expectGone,
  expectToast,
  Failure,
  failure,
  fill,
  findTitle,
  held,
  ids,
  isChecked,
  isDisabled,
  page,
  recorded,
  renderApp,
  type Scope,
  scopeOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const ADDRESS = `/position-calculator?signalId=${ids.signal}&userId=${ids.user}`;
const SETTINGS = `/api/admin/user-settings/${ids.user}`;
const BALANCE = `GET /api/admin/account-balance/${ids.user}`;
const OTHERS_BALANCE = 'GET /api/admin/account-balance/958cbc84-6e40-4b04-b02d-5e40b004c8d9';
const PRICE = 'GET /api/current-price/ETHUSDT';
const GENERATE = 'POST /api/internal/position-generator/generate';
const PREPARE = 'POST /api/position-maker/prepare';
const SUBMIT = 'POST /api/position-maker/submit-order';
const ORDERS = 'GET /api/position-maker/orders';

const settings = recorded['GET /api/admin/user-settings/958cbc84-6e40-4b04-b02d-5e40b004c8d9'];
const calculation = recorded[GENERATE];
const order = recorded[SUBMIT];
const running = {
  ...order,
  done: false,
  verificationJourney: {
    ...order.verificationJourney,
    attempts: order.verificationJourney.attempts.map((attempt) => ({ ...attempt, state: 'open' })),
  },
};

const open = (answers: Answers = {}) =>
  renderApp(ADDRESS, { [`PUT ${SETTINGS}`]: settings, [ORDERS]: { order: null }, ...answers });
const card = async (title: string) =>
  scopeOf(
    (await page().findByRole('heading', { level: 2, name: title })).closest('section') ?? document.body,
  );
const calculateButton = async () =>
  (await card('Calculation Settings')).getByRole('button', { name: /^Calculat/ });
const labelsOf = ({ options }: HTMLSelectElement) => Array.from(options, ({ text }) => text);
const saveSwitch = () => page().getByRole('switch', { name: "Save as other@example.com's settings" });
const calculate = async (app: App) => await app.user.click(await calculateButton());
const submitButton = () => page().findByRole('button', { name: 'Submit Order' });
const parameters = () => card('Position Parameters');
const fact = (scope: Scope, name: string) => scope.getByText(name).nextElementSibling?.textContent;
const CONFIRMATION = 'Position Maker - Order Confirmation';
const RESULT = 'Order Submission Result';
const close = async (app: App) => {
  await app.user.keyboard('{Escape}');
  await expectGone(() => page().queryByRole('dialog'));
};

/** Calculates, then opens the order's confirmation. */
async function openConfirmation(app: App) {
  await app.user.click(await submitButton());
  return await dialog(CONFIRMATION);
}
async function openCalculated(answers: Answers = {}) {
  const app = open(answers);
  await calculate(app);
  await eventually(() => expect(app.address()).toContain(`calculation=${ids.calculation}`));
  return app;
}
async function confirm(app: App) {
  const form = await openConfirmation(app);
  const button = await form.findByRole('button', { name: 'Confirm & Submit Order' });
  await eventually(() => expect(isDisabled(button)).toBe(false));
  await app.user.click(button);
  return form;
}

// Requirements: additions-confirmation-1
test('the confirmation first says who trades what, what is lost and what is won', async () => {
  const app = await openCalculated();
  const form = await openConfirmation(app);
  const what = await form.findByText(/^Buy 10.75 ETH for /);
  expect(what.textContent).toBe('Buy 10.75 ETH for other@example.com');
  const text = form.element.textContent ?? '';
  // 10.75 × (3,001.50 − 2,955), and 10.75 × (3,090 − 3,001.50).
  for (const part of [
    'on Bitget (paper), limit at $3,001.50, 10x',
    'Loses at the stop−$499.885.00% of the balance',
    'Wins at the target+$951.389.51% of the balance, 1.90 R',
  ]) {
    expect(text).toContain(part);
  }
  expect(document.activeElement?.textContent).toBe('Cancel');
  const technical = form.getByText('Technical details').closest('details');
  expect(technical?.open).toBe(false);
  expect(technical?.textContent).toContain('place-order');
  await close(app);
});

describe('the exit plan', () => {
  const EXITS = `GET /api/exit-plans/calculations/${ids.calculation}`;
  const planned = {
    scope: { kind: 'strategy', value: 'tesla', title: 'Strategy tesla' },
    exits: {
      risk: '46.5',
      parts: [{ atR: '1', percent: 50, price: '3048', quantity: '5.37' }],
      rest: '5.38',
      breakEven: { atPrice: '3048', stopLoss: '3001.5' },
      trail: { distance: '60' },
      maxHoldingMinutes: 240,
      notes: ['the part at 3 R is left to the target 3090'],
    },
  };
  const section = async (scope: Scope) =>
    scopeOf((await scope.findByText('Exit Plan')).closest('section') ?? document.body);

  // Requirements: additions-exits-24
  test('has its prices and quantities beside the calculated position and in the confirmation', async () => {
    const app = await openCalculated({ [EXITS]: planned });
    for (const place of [await parameters(), await openConfirmation(app)]) {
      const shown = await section(place);
      await shown.findByText('Close 5.37 ETH at 3048 (1 R)');
      for (const text of [
        'Move the stop to 3001.5 at 3048',
        'Trail the stop by 60 USDT',
        'Close the rest after 240 minutes',
        'Note: the part at 3 R is left to the target 3090',
        'Plan of Strategy tesla, if all is filled at $3,001.50. Stop and target close the rest.',
      ])
        expect(shown.getByText(text)).toBeTruthy();
    }
    expect(app.sent(EXITS).map(({ query }) => query)).toContainEqual({
      entryPrice: '3001.5',
      quantity: '10.75',
    });
    await close(app);
  });

  testEveryCase('of a custom entry price is that of the order which is sent', async () => {
    const app = await openCalculated({ [EXITS]: planned });
    const form = await openConfirmation(app);
    await (await section(form)).findByText('Close 5.37 ETH at 3048 (1 R)');
    const prepared = recorded[PREPARE];
    const changed = { ...prepared.data.positionDetails, entryPrice: '3002', assetQuantity: '10.63' };
    app.answers[PREPARE] = { ...prepared, data: { ...prepared.data, positionDetails: changed } };
    fill(form.getByLabelText('Custom Entry Price (optional)'), '3002');
    await (await section(form)).findByText(/if all is filled at \$3,002\.00/);
    expect(app.sent(EXITS).at(-1)?.query).toEqual({ entryPrice: '3002', quantity: '10.63' });
    await close(app);
  });

  testEveryCase('is loading, then missing, and says when it cannot be fetched', async () => {
    const none = held({ scope: null, exits: null });
    const app = await openCalculated({ [EXITS]: none.promise });
    const shown = await section(await parameters());
    await shown.findByText('Loading the exit plan...');
    none.release();
    await shown.findByText('No exit plan: only the stop and the target end the position');
    app.answers[EXITS] = failure(503, 'Bitget lists no contract for ETH');
    const form = await openConfirmation(app);
    await (await section(form)).findByText(/Bitget lists no contract for ETH/);
    await close(app);
  });
});

// Requirements: calculator-screen-and-cards-1, calculator-screen-and-cards-2
test('reports a missing signal id and links back to the signals', async () => {
  const app = renderApp('/position-calculator');
  await findTitle('Position Calculator');
  await page().findByText('No signal ID provided. Please select a signal from the signals page.');
  await app.user.click(page().getByRole('link', { name: 'Back to Signals' }));
  await findTitle('Trading Signals');
});

// Requirements: calculator-screen-and-cards-2, calculator-screen-and-cards-6, trading-messages-18
testEveryCase('shows signal and balance as loading, unavailable and loaded', async () => {
  const signal = held(failure(404, 'Signal not found'));
  const balance = held({ success: false });
  const SIGNAL = `GET /api/signals/${ids.signal}`;
  const app = open({ [SIGNAL]: signal.promise, [BALANCE]: balance.promise });
  await page().findByText('Loading signal data...');
  signal.release();
  await page().findByText('Failed to load signal data. Please try again.');
  delete app.answers[SIGNAL];
  app.reload();
  await page().findByText('Loading account balance...');
  balance.release();
  await page().findByText('Balance information unavailable');
  app.answers[BALANCE] = failure(502, 'Balance API Error: the exchange does not answer');
  await app.user.click(page().getByRole('button', { name: 'Refresh balance' }));
  await page().findByText('Balance API Error');
  page().getByText('Please check API connection');
  delete app.answers[BALANCE];
  await app.user.click(page().getByRole('button', { name: 'Refresh balance' }));
  await eventually(async () => expect(fact(await card('Account Balance'), 'Balance')).toBe('$9,980.65'));
  const figures = await card('Account Balance');
  expect(['Available', 'Frozen', 'In positions'].map((name) => fact(figures, name))).toEqual([
    '$6,755.65',
    '$0.00',
    '$3,225.00',
  ]);
});

describe('the trading user', () => {
  const users = () => card('Trading User');
  const expectChosen = (text: string) =>
    eventually(async () => expect((await users()).element.textContent).toContain(text));

  // Requirements: calculator-screen-and-cards-3, calculator-screen-and-cards-4, trading-validation-6
  // Requirements: trading-roles-3, trading-calls-16
  test('can be any user, is found by name, and is kept in the URL', async () => {
    const app = renderApp(`/position-calculator?signalId=${ids.signal}`, {
      [`GET /api/admin/account-balance/${recorded['GET /api/auth/user'].user.id}`]: recorded[OTHERS_BALANCE],
    });
    for (const text of ['admin@example.com (You)', 'Active', 'Trading Off']) await expectChosen(text);
    (await users()).getByRole('button', { name: 'Choose another user' }).focus();
    await app.user.keyboard('{Enter}');
    const field = await (await users()).findByLabelText('Search users');
    expect(document.activeElement).toBe(field);
    fill(field, 'nobody is called so');
    (await users()).getByText('No user matches');
    fill(field, 'OTHER');
    await app.user.click((await users()).getByRole('button', { name: /@/ }));
    await eventually(() => expect(app.address()).toContain(`userId=${ids.user}`));
    await expectChosen('other@example.com');
    expect((await card('Calculation Settings')).element.textContent).toContain(
      "Save as other@example.com's settings",
    );
    app.reload();
    await expectChosen('other@example.com');
  });

  test('is reported when the user does not exist', async () => {
    renderApp(ADDRESS.replace(ids.user, '01890000-0000-4000-8000-000000000000'), {
      [ORDERS]: { order: null },
    });
    await page().findByText('User ID not available - please log in or select a user');
  });
});

describe('a calculation', () => {
  // Requirements: trading-calculator-and-execution-7, trading-validation-3
  test('cannot be submitted without stop loss and take profit', async () => {
    const app = await openCalculated({
      [GENERATE]: { ...calculation, position: { ...calculation.position, takeProfit: '' } },
    });
    const { element, findByRole } = await parameters();
    const button = await findByRole('button', { name: 'Missing SL/TP - Cannot Submit' });
    expect(isDisabled(button)).toBe(true);
    expect(element.textContent).toContain('SAFETY RULE: Cannot submit without Stop Loss and Take Profit');
    await app.user.hover(button.closest('[data-tip]') ?? button);
    expect((await page().findByRole('tooltip')).textContent).toBe(
      'Stop Loss and Take Profit are required for all trades',
    );
  });

  // Requirements: trading-messages-8, trading-messages-15, trading-messages-17
  test("shows the error's text when it fails, or the default text", async () => {
    const usual = 'Failed to calculate position parameters.';
    const refused = { success: false, positionGeneratorLogId: null, availableBalance: null };
    const app = open({ [GENERATE]: { ...refused, error: '', message: '', details: 'Some detail' } });
    await calculate(app);
    await expectToast('Calculation Failed', usual);
    expect((await card('Calculation Error')).element.textContent).toContain('Some detail');
    for (const [answer, title, text, error] of [
      [{ success: false }, 'Calculation Failed', usual, usual],
      [
        { ...refused, error: 'x', message: 'Bitget: rate limit exceeded', details: '' },
        'Rate Limiting Detected',
        'Fallback calculations use the real account balance, and results remain accurate.',
        'Signal prices are used as fallback',
      ],
      [
        { ...refused, error: 'x', message: 'above the 33% limit', details: '', availableBalance: '10000' },
        'Calculation Failed',
        'above the 33% limit',
        'The current available balance is $10,000.00.',
      ],
      [
        failure(503, 'The service is not available at the moment'),
        'Calculation Failed',
        'The service is not available at the moment',
        'The service is not available at the moment',
      ],
    ] as const) {
      app.answers[GENERATE] = answer;
      await calculate(app);
      await expectToast(title, text);
      await eventually(async () => {
        const shown = (await card('Calculation Error')).element.textContent;
        expect(shown).toContain(error);
        expect(shown).not.toContain('Some detail');
      });
    }
    expect((await calculateButton()).textContent).toBe('Calculate');
    await app.user.click(await submitButton());
    await expectToast('No Position Data', 'Please calculate position parameters first.');
  });

  // Requirements: trading-calculator-and-execution-1, trading-calculator-and-execution-2
  // Requirements: trading-calculator-and-execution-4, trading-calls-20, trading-messages-14
  // Requirements: trading-messages-15
  test('explains the price it uses', async () => {
    const app = open();
    for (const { price, title, text, after, says } of [
      {
        price: recorded[PRICE],
        title: 'Price Current',
        text: 'by 0.00%; the calculation uses the signal price.',
        after: 'Position Calculated',
        says: /at 3001\.5000\. Price Current: .* by 0\.00%/,
      },
      {
        price: { ...recorded[PRICE], data: { currentPrice: '3060', source: 'Bitget (paper)' } },
        title: 'Price Updated',
        text: 'by 2.00%; the calculation uses the current price.',
        after: 'Position Calculated',
        says: /Price Updated: .* by 2\.00%/,
      },
      {
        price: UNREACHABLE,
        title: 'Using Signal Price',
        text: 'The server cannot be reached. The calculation uses the signal price 3000.',
        after: 'Position Calculated',
        says: 'Using Signal Price: The server cannot',
      },
      {
        price: failure(429, 'Slow down'),
        title: 'Rate Limiting Detected',
        text: 'Slow down. The calculation uses the signal price 3000.',
        after: 'Rate Limiting Detected',
        says: 'Fallback calculations use the real account balance, and results remain accurate.',
      },
    ]) {
      const calculating = held(calculation);
      Object.assign(app.answers, { [PRICE]: price, [GENERATE]: calculating.promise });
      await calculate(app);
      await expectToast(title, text);
      const asked = app.sent(PRICE).at(-1);
      expect(asked?.query).toMatchObject({
        marketType: 'futures',
        timestamp: expect.stringMatching(/^\d+$/),
      });
      expect(asked?.headers?.get('cache-control')).toBe('no-cache');
      expect((await calculateButton()).textContent).toBe('Calculating...');
      expect(isDisabled(await calculateButton())).toBe(true);
      calculating.release();
      await expectToast(after, says);
      expect((await parameters()).element.textContent).toContain(`${title}:`);
    }
  });

  // Requirements: trading-calculator-and-execution-5, trading-calculator-and-execution-6
  test('cannot be submitted when its settings differ from those on the screen', async () => {
    const outdated = 'Calculated with other settings (Risk Management): calculate again';
    const calculating = held(calculation);
    const app = open({ [GENERATE]: calculating.promise });
    const method = () => page().findByLabelText('Position Sizing Method');
    await calculate(app);
    await app.user.selectOptions(await method(), 'Portfolio Allocation');
    calculating.release();
    await alertOf(outdated);
    expect(((await method()) as HTMLSelectElement).value).toBe('Portfolio Allocation');
    expect(isDisabled(await submitButton())).toBe(true);
    await app.user.selectOptions(await method(), 'Risk Management');
    await eventually(async () => expect(isDisabled(await submitButton())).toBe(false));
    expect((await parameters()).element.textContent).not.toContain(outdated);
    // After a reload, a calculation the page no longer remembers cannot be submitted with other settings either.
    app.reload();
    await eventually(async () => expect(isDisabled(await submitButton())).toBe(false));
    await app.user.selectOptions(await method(), 'Portfolio Allocation');
    await alertOf('Calculated with other settings: calculate again');
    expect(isDisabled(await submitButton())).toBe(true);
  });

  // Requirements: calculator-screen-and-cards-9, trading-calculator-and-execution-18
  test('has a card for each of its parts, and each method fixes its fields or offers lists', async () => {
    const app = await openCalculated();
    const parts = ['Hyperparameters', 'Reasoning', 'Details', 'Methodology'];
    await Promise.all(['Position Parameters', ...parts.map((part) => `Calculation ${part}`)].map(card));
    const fields = await card('Calculation Settings');
    const field = (name: string) => fields.getByLabelText(name) as HTMLSelectElement;
    const choices = (select: HTMLSelectElement) => (isDisabled(select) ? 'fixed' : labelsOf(select));
    async function choose(method: string) {
      await app.user.selectOptions(field('Position Sizing Method'), method);
      return {
        portion: choices(field('Investment Portion')),
        risk: choices(field('Maximum Risk per Trade')),
      };
    }
    const risk = ['2.0%', '5.0%', '10.0%', '15.0%'];
    expect(await choose('Technical Analysis')).toMatchObject({ risk: 'fixed' });
    expect(await choose('Risk Management')).toEqual({ portion: 'fixed', risk });
    expect(await choose('Portfolio Allocation')).toEqual({ portion: [...risk, '20.0%'], risk });
  });

  // Requirements: additions-calculator-1
  test('uses changed settings without storing them, unless they are to be saved', async () => {
    const app = open();
    const method = () => page().findByLabelText('Position Sizing Method');
    await app.user.selectOptions(await method(), 'Portfolio Allocation');
    expect(isChecked(saveSwitch())).toBe(false);
    await calculate(app);
    await eventually(() => expect(app.sent(GENERATE)).toHaveLength(1));
    expect(app.sent(GENERATE)[0]?.body).toMatchObject({
      settings: { positionSizingMethod: 'Portfolio Allocation', marketType: 'Futures' },
    });
    expect(app.sent(`PUT ${SETTINGS}`)).toEqual([]);
    await eventually(() => expect(app.address()).toContain('unsaved=yes'));
    expect(((await method()) as HTMLSelectElement).value).toBe('Portfolio Allocation');
    // After a reload the screen shows the stored settings, which are not those of the calculation.
    app.reload();
    await alertOf('Calculated with other settings: calculate again');
    expect(isDisabled(await submitButton())).toBe(true);

    await app.user.selectOptions(await method(), 'Portfolio Allocation');
    await app.user.click(saveSwitch());
    app.answers[`PUT ${SETTINGS}`] = {
      success: true,
      data: { ...settings.data, positionSizingMethod: 'Portfolio Allocation' },
    };
    await calculate(app);
    await eventually(() => expect(app.address()).not.toContain('unsaved'));
    expect(app.sent(`PUT ${SETTINGS}`).map(({ body }) => body)).toMatchObject([
      { positionSizingMethod: 'Portfolio Allocation', updatedAt: settings.data.updatedAt },
    ]);
  });

  // Requirements: additions-calculator-2
  test('keeps risk, reward and their ratio in sight', async () => {
    const app = open();
    expect(page().queryByRole('region', { name: 'Risk and reward' })).toBeNull();
    await calculate(app);
    const bar = await page().findByRole('region', { name: 'Risk and reward' });
    const { assetQuantity, entryPrice, stopLoss, takeProfit } = calculation.position;
    const [size, entry, stop, target] = [assetQuantity, entryPrice, stopLoss, takeProfit].map(Number) as [
      number,
      number,
      number,
      number,
    ];
    const [risk, reward] = [size * (entry - stop), size * (target - entry)];
    const money = (amount: number) =>
      `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
    expect(bar.textContent).toContain(`Risk${money(risk)} (`);
    expect(bar.textContent).toContain(`Reward${money(reward)}R${(reward / risk).toFixed(2)}`);
  });

  // Requirements: screens-user-settings-10
  testEveryCase('saves nothing over settings changed elsewhere until the user chooses', async () => {
    const elsewhere = { ...settings.data, maximumRiskPerTrade: '0.1', updatedAt: '2026-12-01T00:00:00.000Z' };
    const app = open({
      [`PUT ${SETTINGS}`]: new Failure(409, {
        message: 'These settings were changed elsewhere',
        data: elsewhere,
      }),
    });
    await app.user.selectOptions(
      await page().findByLabelText('Position Sizing Method'),
      'Portfolio Allocation',
    );
    await app.user.click(saveSwitch());
    await calculate(app);
    const notice = await alertOf('These settings were changed elsewhere:');
    expect(notice.element.textContent).toContain('Maximum Risk per Trade (now 10.0%)');
    expect(isDisabled(await calculateButton())).toBe(true);
    expect(app.sent(GENERATE)).toEqual([]);
    await app.user.click(notice.getByRole('button', { name: 'Keep mine' }));
    const portfolio = { ...elsewhere, positionSizingMethod: 'Portfolio Allocation' };
    app.answers[`PUT ${SETTINGS}`] = { success: true, data: portfolio };
    await calculate(app);
    await eventually(() => expect(app.sent(GENERATE)).toHaveLength(1));
    expect(app.sent(`PUT ${SETTINGS}`).at(-1)?.body).toMatchObject({
      positionSizingMethod: 'Portfolio Allocation',
      updatedAt: elsewhere.updatedAt,
    });
  });
});

describe('the confirmation of an order', () => {
  // Requirements: trading-validation-2, trading-validation-3, trading-messages-9
  test('keeps the titles of a failed preparation and allows a retry', async () => {
    const refused = { success: false, data: null, details: '' };
    const safety = 'Cannot prepare order without Stop Loss and Take Profit. This is a strict safety rule.';
    const preparing = held(recorded[PREPARE]);
    const app = await openCalculated();
    const failures = [
      [{ ...refused, error: 'SAFETY VIOLATION', message: safety }, 'SAFETY VIOLATION', safety],
      [
        { ...refused, error: 'Exchange Unavailable', message: '' },
        'Order Preparation Failed',
        'Failed to prepare order data.',
      ],
      [
        { success: true, message: '', data: null },
        'Order Preparation Failed',
        'No order data prepared. Please try again.',
      ],
      [
        { ...refused, error: 'No Position Data', message: 'Please calculate position parameters first.' },
        'No Position Data',
        'Please calculate position parameters first.',
      ],
      [failure(500, 'Internal server error'), 'Order Preparation Failed', 'Internal server error'],
    ] as const;
    // The first has an answer with its texts, the third none with data.
    for (const [answer, title, text] of firstCases(failures, 3)) {
      app.answers[PREPARE] = answer;
      const form = await openConfirmation(app);
      await expectToast(title, text);
      expect(form.getAllByRole('alert')[0]?.textContent).toContain(text);
      expect(isDisabled(form.getByRole('button', { name: 'Confirm & Submit Order' }))).toBe(true);
      await close(app);
    }
    app.answers[PREPARE] = preparing.promise;
    const form = await openConfirmation(app);
    await form.findByText('Preparing order data...');
    preparing.release();
    await form.findByText('Pre-assessment passed');
    expect(['Token', 'Entry Price', 'Exchange', 'Market Type'].map((name) => fact(form, name))).toEqual([
      'ETH',
      '3001.5000',
      'Bitget',
      'Futures',
    ]);
    await close(app);

    const { data } = recorded[PREPARE];
    const preAssessment = { valid: false, reason: 'ETH is already open' };
    app.answers[PREPARE] = { ...recorded[PREPARE], data: { ...data, validation: { preAssessment } } };
    const blocked = await openConfirmation(app);
    await blocked.findByText('Pre-assessment failed');
    const button = blocked.getByRole('button', { name: 'Confirm & Submit Order' });
    expect(isDisabled(button)).toBe(true);
    expect(button.closest('[data-tip]')?.getAttribute('data-tip')).toBe(
      'Order validation failed - check order parameters',
    );
  });

  // Requirements: calculator-screen-and-cards-12, trading-calculator-and-execution-11, trading-messages-10
  // Requirements: trading-messages-13
  const failures = [
    [
      { error: 'Price Moved', message: 'The live price has moved' },
      'Order Submission Failed',
      'The live price has moved',
    ],
    [{ error: '', message: '' }, 'Order Submission Failed', 'Unknown error occurred'],
    [
      { error: '', message: 'Maximum 2 requests per second' },
      'Rate Limiting Detected',
      'Maximum 2 requests per second',
    ],
    [{ error: 'API Integration failed', message: '' }, 'Rate Limiting Detected', 'API Integration failed'],
    [failure(429, 'Too many requests'), 'Rate Limiting Detected', 'Too many requests'],
    [new Failure(502, 'bad gateway'), 'Order Submission Failed', 'Failed to submit order to exchange.'],
    [UNREACHABLE, 'Order Processing Error', 'The server cannot be reached'],
  ] as const;
  test.for(oneOfEachKind(failures, ([, title]) => title !== 'Rate Limiting Detected'))(
    'opens the result dialog with the error of a failed submission (%#)',
    async ([answer, title, text]) => {
      const isRefusal = typeof answer === 'object' && !(answer instanceof Failure);
      const app = await openCalculated({
        [SUBMIT]: isRefusal ? { success: false, details: '', ...answer } : answer,
      });
      await confirm(app);
      await expectToast(title, text);
      const result = await dialog(RESULT);
      expect(result.element.textContent).toContain('FAILED (ORDER FAILED)');
      expect(result.element.textContent).toContain(text);
    },
  );

  // Requirements: trading-messages-11
  test('keeps the toast of a failed submission for ten seconds', async () => {
    const app = await openCalculated({ [SUBMIT]: { success: false, error: '', message: '', details: '' } });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    await confirm(app);
    await expectToast('Order Submission Failed');
    await act(() => vi.advanceTimersByTimeAsync(8000));
    await expectToast('Order Submission Failed');
    await act(() => vi.advanceTimersByTimeAsync(2100));
    expect(document.querySelector('.mantine-Notification-root:not([data-leaving])')).toBeNull();
  });

  // Requirements: order-execution-11
  testEveryCase('finds an order again after its answer was lost', async () => {
    const app = await openCalculated({ [SUBMIT]: UNREACHABLE });
    const form = await confirm(app);
    await expectToast('Order Processing Error');
    await page().findByText('The outcome is not known yet');
    app.answers[ORDERS] = { order: running };
    expect((await page().findByRole('article', { name: 'First Attempt' })).textContent).toContain('Open');
    app.answers[ORDERS] = { order };
    await expectToast('Order Submitted Successfully', `Order ID: ${order.orderId}`);
    expect(form.element.isConnected).toBe(true);
    await page().findByText('SUCCESS (ORDER FILLED)');
  });

  // Requirements: calculator-screen-and-cards-11, trading-validation-11, trading-messages-12
  // Requirements: order-execution-11, additions-order-and-positions-3
  test('follows the order; leaving does not stop it, and its outcome is announced elsewhere', async () => {
    const submitting = held(order);
    const app = await openCalculated({ [SUBMIT]: submitting.promise });
    const form = await confirm(app);
    expect(isDisabled(await form.findByRole('button', { name: 'Submitting Order...' }))).toBe(true);
    app.answers[ORDERS] = { order: running };
    await page().findByRole('article', { name: 'First Attempt' });
    await close(app);
    expect((await card('Order of This Calculation')).element.textContent).toContain('Running');
    await app.user.click(page().getByRole('link', { name: 'Back to Signals' }));
    await expectToast('Order Still Running', 'Leaving the calculator stops nothing');
    await findTitle('Trading Signals');
    app.answers[ORDERS] = { order };
    submitting.release();
    await expectToast('Order Submitted Successfully', `Order ID: ${order.orderId}`);
    history.back();
    await eventually(async () =>
      expect((await card('Order of This Calculation')).element.textContent).toContain('Filled'),
    );
    expect(isDisabled(await submitButton())).toBe(true);
    await app.user.click(page().getByRole('button', { name: 'Show result' }));
    const result = await dialog(RESULT);
    expect(result.element.textContent).toContain('SUCCESS (ORDER FILLED)');
    expect(fact(result, 'First Order Filled')).toBe('Yes');
    expect(fact(result, 'Second Attempt Executed')).toBe('No');
    expect(result.getByRole('article', { name: 'Second Attempt' }).textContent).toContain('NOT RUN');
  });

  testEveryCase.each([
    ['filled', 'its fill was read from the position', 1],
    ['unfilled', 'its fill was read from the position', 1],
    ['refused', 'Bitget: The order amount exceeds the balance', 0],
  ])('shows what is noted of an attempt that is %s as what it is', async (state, error, notes) => {
    const { verificationJourney: journey } = order;
    const attempts = journey.attempts.map((attempt) => ({ ...attempt, state, error }));
    const noted = { ...order, verificationJourney: { ...journey, attempts } };
    const app = await openCalculated({ [SUBMIT]: noted });
    await confirm(app);
    await dialog(RESULT);
    const attempt = scopeOf(await page().findByRole('article', { name: 'First Attempt' }));
    attempt.getByText(error, { exact: false });
    expect(attempt.queryAllByRole('note')).toHaveLength(notes);
  });

  testEveryCase('does not open a closed result again when the answer arrives', async () => {
    const submitting = held(order);
    const app = await openCalculated({ [SUBMIT]: submitting.promise });
    await confirm(app);
    app.answers[ORDERS] = { order };
    expect((await dialog(RESULT)).element.textContent).toContain('SUCCESS (ORDER FILLED)');
    await close(app);
    submitting.release();
    await expectToast('Order Submitted Successfully');
    expect(page().queryByRole('dialog')).toBeNull();
    expect(app.address()).not.toContain('dialog=');
  });
});
