// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  alertOf,
  type Call,
  dialog,
  eventually,
  expectGone,
  Failure,
  fill,
  findTitle,
  page,
  renderApp,
  scopeOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const STRATEGIES = 'GET /api/strategies';
const NONE = {
  maxDailyLoss: null,
  maxDrawdown: null,
  maxLossesInARow: null,
  cooldownMinutes: null,
  maxOpenPositions: null,
  maxExposure: null,
  maxRisk: null,
  maxEntriesPerMinute: null,
  allowedTokens: null,
  blockedTokens: null,
  schedule: null,
  shrink: false,
  onBreach: 'stop',
};
const scopeAnswer = (title: string, limits: object = {}, more: object = {}) => ({
  scope: { kind: 'strategy', value: title.toLowerCase(), title },
  limits: { ...NONE, ...limits },
  uses: [],
  breaches: [],
  unknown: [],
  dayProfit: null,
  opensAt: null,
  ...more,
});
const use = (limit: string, used: string, maximum: string, written = maximum, unit = 'count') => ({
  limit,
  used,
  maximum,
  written,
  unit,
});

const tesla = {
  processor: 'Tesla',
  stopped: false,
  lastSignal: { token: 'BTC', action: 'sell', at: '2026-11-24T04:54:40.512Z' },
  signals7d: 61,
  orders7d: 42,
  filled7d: 40,
  net7d: '586.04',
  unknown7d: 0,
  closed7d: 34,
  won7d: 21,
  trend7d: [
    { at: '2026-11-17T06:00:00.000Z', net: '0' },
    { at: '2026-11-24T06:00:00.000Z', net: '586.04' },
  ],
  subscribers: [
    { username: 'ann@example.com', trades: true },
    { username: 'bob@example.com', trades: false },
  ],
  maxSignalAgeSeconds: 120,
  canary: null,
  rotation: false,
  limits: scopeAnswer(
    'Strategy tesla',
    { maxOpenPositions: 12, maxExposure: '2x', maxDailyLoss: '900', maxEntriesPerMinute: 20, shrink: true },
    {
      uses: [
        use('maxOpenPositions', '9', '12'),
        use('maxExposure', '3000', '20000', '2x', 'USDT'),
        use('maxDailyLoss', '900', '900', '900', 'USDT'),
      ],
    },
  ),
};
const answer = (strategy: object = tesla) => ({ strategies: [strategy], program: scopeAnswer('Program') });

const gauges = () =>
  [...(page().getByRole('list', { name: 'Limits' }).children ?? [])].map((item) => [
    item.getAttribute('data-level'),
    item.textContent,
  ]);

// Requirements: additions-limits-10
describe('the strategies', () => {
  test('show results, followers, and a gauge for each limit: amber from 70 %, red when reached', async () => {
    renderApp('/strategies', { [STRATEGIES]: answer() });
    await findTitle('Strategies');
    await page().findByRole('heading', { level: 2, name: 'Tesla' });
    expect(gauges()).toEqual([
      ['reached', 'Daily loss$900 of $900Reached: then new entries stop until the next day'],
      ['near', 'Open positions9 of 12further entries are denied'],
      ['low', 'Exposure$3,000 of $20,000 (2x)larger entries are sized down to fit'],
      [null, 'Entries a minuteunknown of 20How far it is used is not known yet'],
    ]);
    const text = document.body.textContent;
    expect(text).toContain('+$586.04');
    expect(text).toContain('Fill rate95.2%Win rate61.8%');
    page().getByRole('img', { name: 'Net of Tesla over 7 days' });
    expect(text).toContain('2 users, 1 with trading off or paused');
    const subscribers = scopeOf(page().getByRole('list', { name: 'Subscribers of Tesla' }));
    expect(subscribers.getAllByRole('listitem').map((one) => one.getAttribute('aria-label'))).toEqual([
      'bob@example.com: trading off or paused',
      'ann@example.com',
    ]);
    expect(text).toContain('No limits: entries go as far as the settings allow');
  });

  test('say when a stop of new entries covers a strategy', async () => {
    const none = { orders7d: 0, filled7d: 0, closed7d: 0, won7d: 0 };
    renderApp('/strategies', { [STRATEGIES]: answer({ ...tesla, stopped: true, ...none }) });
    await page().findByText('New entries stopped');
    // Nothing was closed: a line would claim a result of nothing.
    expect(document.body.textContent).toContain('Fill rate–Win rate–');
    expect(page().queryByRole('img', { name: /^Net of/ })).toBeNull();
  });

  test('show what became of the last signals, and switch new entries after a question', async () => {
    const { user } = renderApp('/strategies', { [STRATEGIES]: answer() });
    const last = await page().findByRole('list', { name: 'Last signals of Tesla' });
    expect(last.children.length).toBeGreaterThan(0);
    const all = page().getByRole('link', { name: 'All signals' });
    expect(all.getAttribute('href')).toContain('processor=Tesla');
    await user.click(page().getByRole('switch', { name: 'New entries of Tesla' }));
    await page().findByRole('dialog', { name: /Stop/ });
  });

  test('beyond the second are folded to name, switch and net on a phone, until they are opened', async () => {
    const strategies = ['Tesla', 'UD Bot', 'Reversion'].map((processor) => ({ ...tesla, processor }));
    const answers = {
      [STRATEGIES]: { strategies, program: scopeAnswer('Program') },
      'GET /api/exit-plans/strategies/UD%20Bot': { scope: {}, plan: null },
      'GET /api/exit-plans/strategies/Reversion': { scope: {}, plan: null },
    };
    const { user } = renderApp('/strategies', answers, { widthPx: 390 });
    await page().findByRole('list', { name: 'Subscribers of UD Bot' });
    const cards = scopeOf(page().getByRole('list', { name: 'Strategies' }));
    const third = cards.getAllByRole('listitem').find((item) => item.textContent?.startsWith('Reversion'));
    expect(third?.textContent).toMatch(
      /^ReversionLast signal .*New entries onNet in 7 d, after fees \+\$586\.04$/,
    );
    page().getByRole('switch', { name: 'New entries of Reversion' });
    expect(page().queryByRole('button', { name: 'Details of Tesla' })).toBeNull();
    const details = page().getByRole('button', { name: 'Details of Reversion', expanded: false });
    await user.click(details);
    await page().findByRole('list', { name: 'Subscribers of Reversion' });
    await user.click(page().getByRole('button', { name: 'Details of Reversion', expanded: true }));
    await expectGone(() => page().queryByRole('list', { name: 'Subscribers of Reversion' }));
  });

  test('list the active stops below, each with the way to lift it', async () => {
    const stop = {
      id: 'one',
      scope: { kind: 'token', value: 'PEPE' },
      reason: 'Listing news',
      createdAt: '2026-11-24T04:54:40.512Z',
      createdBy: 'grace@example.com',
      until: null,
    };
    const pause = {
      ...stop,
      id: 'pause-u',
      scope: { kind: 'user', value: 'u' },
      createdAt: null,
      createdBy: null,
    };
    const { user } = renderApp('/strategies', {
      [STRATEGIES]: answer(),
      'GET /api/trading-stops': [stop, pause],
    });
    const table = await page().findByRole('table', { name: 'Active stops' });
    const rows = [...table.querySelectorAll('tbody tr')].map(({ textContent }) => textContent);
    expect(rows[0]).toContain('PEPEListing news');
    expect(rows[0]).toContain('grace@example.com');
    expect(rows[0]).toContain('Until lifted');
    expect(rows[1]).toContain('Paused in the settings');
    expect(page().queryAllByRole('button', { name: /^Lift the stop of/ })).toHaveLength(1);
    await user.click(page().getByRole('button', { name: 'Lift the stop of PEPE' }));
    await page().findByRole('dialog', { name: /PEPE|Lift|Stop/ });
  });

  test('say so too while a limit of the program stops all entries', async () => {
    const breach = {
      id: '1',
      limit: 'maxDailyLoss',
      saw: '900 USDT',
      maximum: '900',
      at: '2026-11-24T04:54:40Z',
      until: null,
    };
    const program = scopeAnswer('Program', { maxDailyLoss: '900' }, { breaches: [breach] });
    renderApp('/strategies', { [STRATEGIES]: { ...answer(), program } });
    await page().findByText('New entries stopped');
  });

  test('say what is stopped and what is not known', async () => {
    const limits = scopeAnswer(
      'Strategy tesla',
      { maxDrawdown: '10%' },
      {
        breaches: [
          {
            id: '1',
            limit: 'maxDrawdown',
            saw: '1000 USDT',
            maximum: '10%',
            at: '2026-11-24T04:54:40Z',
            until: null,
          },
        ],
        unknown: [{ username: 'ann@example.com', what: 'the equity was not read' }],
      },
    );
    renderApp('/strategies', { [STRATEGIES]: answer({ ...tesla, limits }) });
    await page().findByText('New entries stopped');
    const stopped = page().getByRole('list', { name: 'What the limits stop now' }).textContent;
    expect(stopped).toContain(
      'Drawdown is 1000 USDT, the limit is 10%. New entries are stopped until an administrator resets it.',
    );
    expect(stopped).toContain('Entries of ann@example.com are denied: the equity was not read.');
  });

  test('save limits as they are typed, and show a refused field', async () => {
    const calls: Call[] = [];
    let refuse = true;
    renderApp('/strategies', {
      [STRATEGIES]: answer(),
      'PUT /api/risk-limits/strategies/Tesla': (call: Call) => {
        calls.push(call);
        if (!refuse) return tesla.limits;
        const message = 'maxRisk must be a percentage such as 4%';
        return new Failure(400, { message, errors: [{ path: 'maxRisk', message }] });
      },
    });
    const card = scopeOf(
      (await page().findByRole('heading', { level: 2, name: 'Tesla' })).closest('section') ?? document.body,
    );
    card.getByRole('button', { name: 'Edit limits' }).click();
    const form = await dialog(/^Limits: /);
    fill(form.getByLabelText(/^Risk to stops/), '4');
    fill(form.getByLabelText(/^Allowed tokens/), 'btc, eth');
    fill(form.getByLabelText(/^Daily loss/), '');
    form.getByRole('button', { name: 'Save' }).click();
    await eventually(() => expect(document.body.textContent).toContain('maxRisk must be a percentage'));
    expect(calls[0]?.body).toEqual({
      ...NONE,
      maxOpenPositions: 12,
      maxExposure: '2x',
      maxEntriesPerMinute: 20,
      maxRisk: '4',
      allowedTokens: ['btc', 'eth'],
      shrink: true,
    });
    refuse = false;
    fill(form.getByLabelText(/^Risk to stops/), '4%');
    form.getByLabelText(/^Close all positions when/).click();
    form.getByRole('button', { name: 'Save' }).click();
    await expectGone(() => page().queryByRole('dialog'));
    expect(calls[1]?.body).toMatchObject({ maxRisk: '4%', onBreach: 'close' });
  });

  // Requirements: additions-limits-13
  test('say that a limit closes all positions, where it does', async () => {
    const closing = scopeAnswer(
      'Strategy tesla',
      { maxDailyLoss: '900', onBreach: 'close' },
      { uses: [use('maxDailyLoss', '90', '900', '900', 'USDT')] },
    );
    renderApp('/strategies', { [STRATEGIES]: answer({ ...tesla, limits: closing }) });
    await page().findByText('then new entries stop until the next day, and all positions are closed');
  });

  // Requirements: additions-limits-11
  test('show trading hours with their next opening, and change them by the window', async () => {
    const schedule = {
      zone: 'Europe/Berlin',
      windows: [{ days: ['mon', 'tue', 'wed', 'sat'], from: '08:00', to: '22:00' }],
    };
    const opensAt = new Date(Date.now() + 3 * 3_600_000).toISOString();
    const calls: Call[] = [];
    renderApp('/strategies', {
      [STRATEGIES]: answer({ ...tesla, limits: scopeAnswer('Strategy tesla', { schedule }, { opensAt }) }),
      'PUT /api/risk-limits/strategies/Tesla': (call: Call) => {
        calls.push(call);
        const message = 'to must be a time of day from 00:00 to 24:00';
        return new Failure(400, { message, errors: [{ path: 'schedule.windows.1.to', message }] });
      },
    });
    await page().findByRole('heading', { level: 2, name: 'Tesla' });
    await page().findByText('Outside trading hours');
    expect(gauges()[0]?.[0]).toBe('near');
    expect(gauges()[0]?.[1]).toMatch(
      /^Trading hoursOpens in 3 hoursMon–Wed, Sat 08:00–22:00 \(Europe\/Berlin\)\. New entries are denied until /,
    );
    const card = scopeOf(
      (await page().findByRole('heading', { level: 2, name: 'Tesla' })).closest('section') ?? document.body,
    );
    card.getByRole('button', { name: 'Edit limits' }).click();
    const form = await dialog(/^Limits: /);
    form.getByRole('button', { name: 'Add window' }).click();
    const second = scopeOf(await form.findByRole('group', { name: 'Window 2' }));
    second.getByLabelText('Mon').click();
    fill(second.getByLabelText('To'), '06:00');
    await second.findByText('Ends on the next day');
    form.getByRole('button', { name: 'Save' }).click();
    await form.findAllByText('to must be a time of day from 00:00 to 24:00');
    expect(calls[0]?.body).toMatchObject({
      schedule: {
        ...schedule,
        windows: [...schedule.windows, { days: ['tue', 'wed', 'thu', 'fri'], from: '08:00', to: '06:00' }],
      },
    });
    form.getByLabelText(/^Entries only within trading hours/).click();
    form.getByRole('button', { name: 'Save' }).click();
    await eventually(() => expect(calls[1]?.body).toMatchObject({ schedule: null }));
  });

  testEveryCase('that cannot be fetched say so, with a retry', async () => {
    renderApp('/strategies', { [STRATEGIES]: UNREACHABLE });
    await alertOf(/Failed to fetch strategies/);
  });
});

// Requirements: additions-limits-12, results-rotation-2
describe('the rules of a strategy', () => {
  const CANARY = { users: 2, withinSeconds: 20, maxSlippageBps: 50 };

  test('stand as tags with their explanation', async () => {
    const rules = { maxSignalAgeSeconds: 120, canary: CANARY, rotation: true };
    renderApp('/strategies', { [STRATEGIES]: answer({ ...tesla, ...rules }) });
    const tags = [...(await page().findByRole('list', { name: 'Rules of Tesla' })).children];
    expect(tags.map(({ textContent }) => textContent)).toEqual([
      'Signals up to 120 s old',
      'Canary: 2 users, 20 s, 50 bps',
      'Order rotates',
    ]);
    expect(tags[1]?.getAttribute('data-tip')).toMatch(
      /^Canary: the first 2 users trade alone.*within 20 s and at most 50 bps/,
    );
    expect(tags[2]?.getAttribute('data-tip')).toMatch(/take turns at being first$/);
  });

  test('are saved from a dialog, which shows a refused field', async () => {
    const calls: Call[] = [];
    let refuse = true;
    renderApp('/strategies', {
      [STRATEGIES]: answer({ ...tesla, maxSignalAgeSeconds: null }),
      'PUT /api/strategies/Tesla': (call: Call) => {
        calls.push(call);
        if (!refuse) return answer({ ...tesla, canary: CANARY });
        const message = 'canary.users must be a whole number from 1 to 50';
        return new Failure(400, { message, errors: [{ path: 'canary.users', message }] });
      },
    });
    await page().findByText('All users trade at once');
    page().getByRole('button', { name: 'Edit rules of Tesla' }).click();
    const form = await dialog('Rules: Tesla');
    fill(form.getByLabelText('Oldest signal in seconds'), '90');
    form.getByLabelText(/^Canary: the first users/).click();
    fill(await form.findByLabelText('Users who trade first'), 'many');
    form.getByRole('button', { name: 'Save' }).click();
    await form.findByRole('alert');
    expect(calls[0]?.body).toEqual({
      maxSignalAgeSeconds: 90,
      canary: { ...CANARY, users: 'many' },
      rotation: false,
    });
    expect(form.getByLabelText('Users who trade first').getAttribute('aria-invalid')).toBe('true');
    refuse = false;
    fill(form.getByLabelText('Users who trade first'), '1');
    fill(form.getByLabelText('Oldest signal in seconds'), '');
    form.getByLabelText(/take turns/).click();
    form.getByRole('button', { name: 'Save' }).click();
    await expectGone(() => page().queryByRole('dialog'));
    expect(calls[1]?.body).toEqual({
      maxSignalAgeSeconds: null,
      canary: { ...CANARY, users: 1 },
      rotation: true,
    });
  });
});

describe('the exit plan of a strategy', () => {
  const PATH = '/api/exit-plans/strategies/Tesla';
  const scope = { kind: 'strategy', value: 'tesla', title: 'Strategy tesla' };
  const PLAN = {
    takeProfits: [{ atR: '1', percent: 50 }],
    breakEvenAtR: '1',
    trail: { atrMultiple: '2' },
    maxHoldingMinutes: 240,
  };
  const POSITION = {
    tradeId: 't',
    userId: 'u',
    username: 'ann@example.com',
    exchangePlatform: 'Bitget',
    token: 'BTC',
    side: 'long',
    entryPrice: '65000',
    exits: {
      risk: '1300',
      parts: [{ atR: '1', percent: 50, price: '66300', quantity: '0.006' }],
      rest: '0.006',
      breakEven: { atPrice: '66300', stopLoss: '65000' },
      trail: { distance: '1200' },
      maxHoldingMinutes: 240,
      notes: ['the part at 3 R is left to the target 67000'],
    },
    skipped: null,
  };
  const section = async () =>
    scopeOf(
      (await page().findByRole('heading', { level: 3, name: /^Exit plan/ })).closest('section') ??
        document.body,
    );

  // Requirements: additions-exits-22
  test('is shown in words, or that there is none, and says when it cannot be fetched', async () => {
    renderApp('/strategies', { [STRATEGIES]: answer(), [`GET ${PATH}`]: { scope, plan: PLAN } });
    const shown = await section();
    await shown.findByText('Close 50 % at 1 R');
    for (const step of [
      'Move the stop to the entry at 1 R',
      'Trail the stop by 2 × ATR',
      'Close the rest after 240 minutes',
    ])
      expect(shown.getByText(step)).toBeTruthy();
  });

  testEveryCase('says that there is no exit plan', async () => {
    renderApp('/strategies', { [STRATEGIES]: answer(), [`GET ${PATH}`]: { scope, plan: null } });
    await page().findByText('None: positions follow only stop and target');
    expect((await section()).queryByRole('button', { name: 'Apply to open positions' })).toBeNull();
  });

  testEveryCase('that cannot be fetched says so', async () => {
    renderApp('/strategies', { [STRATEGIES]: answer(), [`GET ${PATH}`]: UNREACHABLE });
    await alertOf(/Failed to fetch the exit plan/);
  });

  test('is saved as it is typed, and shows a refused field', async () => {
    const calls: Call[] = [];
    let refuse = true;
    renderApp('/strategies', {
      [STRATEGIES]: answer(),
      [`GET ${PATH}`]: { scope, plan: null },
      [`PUT ${PATH}`]: (call: Call) => {
        calls.push(call);
        if (!refuse) return { scope, plan: PLAN };
        const message = 'The target lies 2 R away: a part at 3 R would never be closed';
        return new Failure(400, { message, errors: [{ path: 'takeProfits.0.atR', message }] });
      },
    });
    (await (await section()).findByRole('button', { name: 'Edit plan' })).click();
    const form = await dialog(/^Exit plan: /);
    fill(form.getByLabelText('Part 1 at R'), '3');
    fill(form.getByLabelText('Part 1 in percent'), '50');
    fill(form.getByLabelText(/^Longest holding/), '240');
    form.getByRole('button', { name: 'Save' }).click();
    await eventually(() => expect(document.body.textContent).toContain('The target lies 2 R away'));
    expect(calls[0]?.body).toEqual({
      takeProfits: [{ atR: '3', percent: 50 }],
      maxHoldingMinutes: 240,
    });
    refuse = false;
    fill(form.getByLabelText('Part 1 at R'), '1');
    form.getByRole('button', { name: 'Save' }).click();
    await expectGone(() => page().queryByRole('dialog'));
  });

  // Requirements: additions-exits-20
  test('is applied to open positions after their prices were shown', async () => {
    const calls: Call[] = [];
    const skipped = { ...POSITION, tradeId: 's', exits: null, skipped: 'the user has a plan of their own' };
    renderApp('/strategies', {
      [STRATEGIES]: answer(),
      [`GET ${PATH}`]: { scope, plan: PLAN },
      'POST /api/exit-plans/apply': (call: Call) => {
        calls.push(call);
        const { preview } = call.body as { preview: boolean };
        return { preview, applied: 1, skipped: 1, positions: [POSITION, skipped] };
      },
    });
    (await (await section()).findByRole('button', { name: 'Apply to open positions' })).click();
    const asked = await dialog(/^Apply to open positions: /);
    await asked.findByText('Close 0.006 BTC at 66300 (1 R)');
    expect(asked.getByText('Move the stop to 65000 at 66300')).toBeTruthy();
    expect(asked.getByText('Note: the part at 3 R is left to the target 67000')).toBeTruthy();
    expect(asked.getByText('Left as it is: the user has a plan of their own')).toBeTruthy();
    asked.getByRole('button', { name: 'Apply to 1 position' }).click();
    await expectGone(() => page().queryByRole('dialog'));
    expect(calls.map(({ body }) => body)).toEqual([
      { scope: { kind: 'strategy', value: 'tesla' }, preview: true },
      { scope: { kind: 'strategy', value: 'tesla' }, preview: false },
    ]);
  });

  test('is removed after a question', async () => {
    let isRemoved = false;
    renderApp('/strategies', {
      [STRATEGIES]: answer(),
      [`GET ${PATH}`]: () => ({ scope, plan: isRemoved ? null : PLAN }),
      [`DELETE ${PATH}`]: () => {
        isRemoved = true;
        return { scope, plan: null };
      },
    });
    (await (await section()).findByRole('button', { name: 'Remove plan' })).click();
    (await dialog('Remove Exit Plan')).getByRole('button', { name: 'Remove' }).click();
    await page().findByText('None: positions follow only stop and target');
  });
});
