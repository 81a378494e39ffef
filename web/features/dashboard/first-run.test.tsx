// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { FIRST_RUN_STEPS, type FirstRunAnswer, type FirstRunStepName } from '#contract/first-run.ts';
import {
  alertOf,
  eventually,
  expectGone,
  expectToast,
  failure,
  findTitle,
  held,
  page,
  recorded,
  renderApp,
  scopeOf,
} from '#test/web/render-app.tsx';

const FIRST_RUN = 'GET /api/first-run';
const TRADER = { id: '369facc9-2cce-4f28-8207-fafeba757fbb', username: 'ann@example.com', isPaused: false };

function firstRun(done: FirstRunStepName[], more: Partial<FirstRunAnswer> = {}): FirstRunAnswer {
  return {
    filled: done.includes('fill'),
    exchangeMode: 'paper',
    automatic: true,
    mayDemo: true,
    webhook: done.includes('webhook') ? 'ready' : 'none',
    tradingUser: TRADER,
    candle: done.includes('signal'),
    signal: done.includes('signal'),
    steps: FIRST_RUN_STEPS.map((step) => ({ step, done: done.includes(step), detail: `Detail of ${step}` })),
    ...more,
  };
}

const list = async () => scopeOf(await page().findByRole('list', { name: 'Steps to the first fill' }));
/** The button of each step, with its look. */
async function buttons(): Promise<string[]> {
  const actions = (await list()).element.querySelectorAll<HTMLElement>(':scope > li button, :scope > li a');
  return [...actions].map((action) => {
    const isPrimary = (action.dataset.variant ?? 'filled') === 'filled';
    const look = action.hasAttribute('disabled') ? 'disabled' : isPrimary ? 'primary' : 'quiet';
    return `${action.textContent}: ${look}`;
  });
}

// Requirements: additions-overview-2
test.for([
  [
    'nothing',
    firstRun([], { tradingUser: null }),
    [
      'Create Webhook: primary',
      'Add User: disabled',
      'Turn Trading On: disabled',
      'Send demo signal: disabled',
      'Open Signals: disabled',
    ],
  ],
  [
    'a webhook, and nobody who can trade',
    firstRun(['webhook'], { tradingUser: null }),
    [
      'Configuration: quiet',
      'Add User: primary',
      'Turn Trading On: disabled',
      'Send demo signal: disabled',
      'Open Signals: disabled',
    ],
  ],
  [
    'trading that is off where money may move',
    firstRun(['webhook', 'user'], { exchangeMode: 'live', mayDemo: false }),
    [
      'Configuration: quiet',
      'Users: quiet',
      'Open Users: primary',
      'Send demo signal: disabled',
      'Open Signals: disabled',
    ],
  ],
  [
    'a pause',
    firstRun(['webhook', 'user'], { tradingUser: { ...TRADER, isPaused: true } }),
    [
      'Configuration: quiet',
      'Users: quiet',
      'User Settings: primary',
      'Send demo signal: disabled',
      'Open Signals: disabled',
    ],
  ],
  [
    'trading on where no test may be sent',
    firstRun(['webhook', 'user', 'trading'], { exchangeMode: 'live', mayDemo: false }),
    [
      'Configuration: quiet',
      'Users: quiet',
      'User Settings: quiet',
      'Configuration: primary',
      'Open Signals: disabled',
    ],
  ],
  [
    'a signal without a fill',
    firstRun(['webhook', 'user', 'trading', 'signal']),
    [
      'Configuration: quiet',
      'Users: quiet',
      'User Settings: quiet',
      'Send again: quiet',
      'Open Signals: primary',
    ],
  ],
  [
    'a suspended webhook',
    firstRun(['user', 'trading'], { webhook: 'unusable' }),
    [
      'Configuration: primary',
      'Users: quiet',
      'User Settings: quiet',
      'Send demo signal: disabled',
      'Open Signals: disabled',
    ],
  ],
] as const)('with %s the current step has the only primary button', async ([, answer, expected]) => {
  renderApp('/', { [FIRST_RUN]: answer });
  await findTitle(/^Welcome, /);
  expect(await buttons()).toEqual(expected);
  const now = (await list()).element.querySelectorAll('[aria-current="step"]');
  expect(now).toHaveLength(1);
  expect(now[0]?.textContent).toContain('(Now)');
  expect(page().getByText(/of 5$/).textContent).toBe(
    `${answer.steps.filter(({ done }) => done).length} of 5`,
  );
});

test('says what moves in each mode', async () => {
  const texts = {
    paper: 'Everything runs on paper: prices come from your candles and signals, no money moves.',
    demo: 'Orders go to the exchange’s demo trading: no money moves.',
    live: 'Orders go to the exchange: real money is traded.',
  } as const;
  for (const exchangeMode of ['paper', 'demo', 'live'] as const) {
    renderApp('/', { [FIRST_RUN]: firstRun([], { exchangeMode }) });
    await page().findByText(texts[exchangeMode]);
  }
});

test('each button does its step, and the next answer moves on', async () => {
  const switched = `PUT /api/admin/user/${TRADER.id}/active-trading`;
  const app = renderApp('/', { [FIRST_RUN]: firstRun(['user']) });
  /** The call that makes the next answer true. */
  const move = (key: string, next: FirstRunAnswer, body: object = {}) => {
    app.answers[key] = () => {
      app.answers[FIRST_RUN] = next;
      return body;
    };
  };
  const sent = { signalId: 's', message: 'BTC Buy at 97098.87 was sent' };
  move('POST /api/hooks', firstRun(['webhook', 'user']));
  move(switched, firstRun(['webhook', 'user', 'trading']), { message: 'Active trading is on' });
  move('POST /api/first-run/demo-signal', firstRun([...FIRST_RUN_STEPS]), sent);
  for (const name of ['Create Webhook', 'Turn Trading On', 'Send demo signal']) {
    await app.user.click(await page().findByRole('button', { name }));
    await expectGone(() => page().queryByRole('button', { name }));
  }
  await page().findByText('First order filled');
  await expectGone(() => page().queryByText('Five steps to the first fill'));
  expect(app.sent(switched).map(({ body }) => body)).toEqual([{ activeTrading: true }]);
  for (const key of ['POST /api/hooks', 'POST /api/first-run/demo-signal']) {
    expect(app.sent(key)).toHaveLength(1);
  }
});

test('a webhook created while the next screen begins to load is shown there', async () => {
  const [created, empty] = [held({ id: 'hook-1' }), held([])];
  const app = renderApp('/', {
    [FIRST_RUN]: firstRun(['user']),
    'POST /api/hooks': created.promise,
    'GET /api/hooks': empty.promise,
  });
  await app.user.click(await page().findByRole('button', { name: 'Create Webhook' }));
  await app.user.click(page().getAllByRole('link', { name: 'Configuration' })[0] as HTMLElement);
  await eventually(() => expect(app.sent('GET /api/hooks')).toHaveLength(1));
  app.answers['GET /api/hooks'] = recorded['GET /api/hooks'];
  app.answers[FIRST_RUN] = firstRun(['webhook', 'user']);
  created.release();
  await expectToast('Webhook Created');
  empty.release();
  await page().findByRole('button', { name: 'Show key' });
});

test('a refused demo signal is reported, and the step stays', async () => {
  const app = renderApp('/', {
    [FIRST_RUN]: firstRun(['webhook', 'user', 'trading']),
    'POST /api/first-run/demo-signal': failure(409, 'An administrator suspended this webhook'),
  });
  await app.user.click(await page().findByRole('button', { name: 'Send demo signal' }));
  await page().findByText('An administrator suspended this webhook');
  expect(await buttons()).toContain('Send demo signal: primary');
});

test('steps that cannot be read offer a retry, and ordinary users have none', async () => {
  const app = renderApp('/', { [FIRST_RUN]: failure(500, 'Internal server error') });
  const failed = await alertOf('Failed to fetch the first steps');
  app.answers[FIRST_RUN] = firstRun([]);
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await list();

  const other = renderApp('/', {}, { user: { isAdmin: false } });
  await page().findByRole('heading', { name: 'My positions' });
  await eventually(() => expect(other.sent('GET /api/my-positions').length).toBeGreaterThan(0));
  expect(other.sent(FIRST_RUN)).toEqual([]);
});
