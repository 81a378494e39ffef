// @vitest-environment jsdom
import { expect, test } from 'vitest';
import {
  dialog,
  eventually,
  ids,
  page,
  recorded,
  renderApp,
  rowsOf,
  savedFiles,
} from '#test/web/render-app.tsx';

const SIGNALS = 'GET /api/signals';
const RUNS = 'GET /api/automation-workflows';
const [signal] = recorded[SIGNALS].signals;
const [run] = recorded[RUNS].workflows;
const listOf = (...signals: object[]) => ({ ...recorded[SIGNALS], signals, total: signals.length });
const runsOf = (...workflows: object[]) => ({ ...recorded[RUNS], workflows, total: workflows.length });

/** Status, outcome, then the tone of the badge and of the words, and the words. */
const CASES = [
  ['completed', { kind: 'filled', filled: 3, failed: 0, skipped: 0 }, 'success', 'Filled 3/3'],
  ['completed', { kind: 'partial', filled: 2, failed: 1, skipped: 0 }, 'warning', 'Partial 2/3'],
  ['completed', { kind: 'not_filled', filled: 0, failed: 3, skipped: 0 }, 'failure', 'Not filled 0/3'],
  ['completed', { kind: 'skipped', filled: 0, failed: 0, skipped: 3 }, 'neutral', 'Skipped 3'],
  ['completed', { kind: 'skipped', filled: 0, failed: 0, skipped: 0 }, 'neutral', 'Nobody eligible'],
  ['aborted', { kind: 'aborted', filled: 0, failed: 0, skipped: 0 }, 'neutral', 'Not traded'],
  ['failed', { kind: 'failed', filled: 0, failed: 0, skipped: 0 }, 'failure', 'Not traded'],
  ['processing', { kind: 'running', filled: 1, failed: 0, skipped: 0 }, 'info', 'Running, 1 filled'],
  ['pending', { kind: 'running', filled: 0, failed: 0, skipped: 0 }, 'info', null],
] as const;
const reasonOf = (kind: string) =>
  kind === 'running' || kind === 'filled' ? null : `Why it is ${kind}: paused until 2026-01-02T12:00:00.000Z`;

// Requirements: additions-outcome-2
test.each([
  ['signals', '/signals', 'Signal History'],
  ['workflows', '/automation-workflows', 'Workflow Runs'],
] as const)(
  'the list of %s shows the status in the colour of the outcome, its words and its reason',
  async (list, path, table) => {
    const rows = CASES.map(([status, outcome], at) => {
      const about = { id: `row-${at}`, outcome: { ...outcome, topReason: reasonOf(outcome.kind) } };
      return list === 'signals'
        ? { ...signal, ...about, workflowStatus: status }
        : { ...run, ...about, workflowId: `row-${at}`, status };
    });
    renderApp(path, { [SIGNALS]: listOf(...rows), [RUNS]: runsOf(...rows) });
    await eventually(() => expect(rowsOf(table)).toHaveLength(CASES.length));
    for (const [at, [status, { kind }, tone, words]] of CASES.entries()) {
      const row = rowsOf(table)[at];
      const name = new RegExp(`^${status}$`, 'i');
      const toned = [...(row?.querySelectorAll<HTMLElement>('[data-tone]') ?? [])];
      const badge = toned.find(({ textContent }) => name.test(textContent));
      expect(badge?.dataset.tone, status).toBe(tone);
      expect(badge?.querySelector('[aria-hidden]') !== null, 'has a spinner').toBe(kind === 'running');
      if (words === null) expect(toned.filter(({ dataset }) => dataset.tone === 'info')).toHaveLength(1);
      else expect(toned.find(({ textContent }) => textContent === words)?.dataset.tone).toBe(tone);
      const reason = `Why it is ${kind}: paused until 2026/01/02 04:00:00`;
      if (reasonOf(kind) === null) expect(row?.textContent).not.toContain('Why it is');
      else expect(row?.textContent).toContain(reason);
    }
  },
);

// Requirements: additions-outcome-2
test('shows no success rate while the workflow runs, and names the outcome in the button of the status', async () => {
  const running = { kind: 'running', filled: 1, failed: 0, skipped: 0, topReason: null };
  const traded = {
    ...signal,
    workflowStatus: 'processing',
    outcome: running,
    successfulTrades: 1,
    totalTrades: 2,
  };
  renderApp('/signals', { [SIGNALS]: listOf(traded, { ...traded, id: 'done', outcome: signal?.outcome }) });
  await eventually(() => expect(rowsOf('Signal History')).toHaveLength(2));
  const rates = rowsOf('Signal History').map((row) => row.querySelectorAll('td')[10]?.textContent);
  expect(rates).toEqual(['–', '50%']);
  page().getByRole('button', { name: /^Processing Running, 1 filled, workflow execution of signal/ });
});

// Requirements: additions-outcome-4
test('says which of several workflows the levels and counts of a row are of', async () => {
  const tipsOf = (row: HTMLElement | undefined) =>
    [4, 11, 12].map((at) =>
      row?.querySelectorAll('td')[at]?.querySelector('[data-tip]')?.getAttribute('data-tip'),
    );
  const only = { ...signal, id: 'only', automaticCount: 1, manualCount: 0 };
  renderApp('/signals', { [SIGNALS]: listOf({ ...signal }, only) });
  await eventually(() => expect(rowsOf('Signal History')).toHaveLength(2));
  const of = `Of the manual workflow ${ids.workflow.slice(0, 4)}...${ids.workflow.slice(-4)}`;
  expect(tipsOf(rowsOf('Signal History')[0])).toEqual([
    `Stop loss 2955\nTake profit 3090\n${of}`,
    'Of all its workflows and orders by hand',
    of,
  ]);
  expect(tipsOf(rowsOf('Signal History')[1])).toEqual([
    'Stop loss 2955\nTake profit 3090',
    undefined,
    undefined,
  ]);
});

// Requirements: additions-outcome-2
test('exports outcome and reason before the status', async () => {
  const outcome = { kind: 'partial', filled: 1, failed: 1, skipped: 0, topReason: 'Order not filled' };
  const app = renderApp('/signals', {
    [SIGNALS]: listOf({ ...signal, outcome }, { ...signal, id: 'none', workflowId: null, outcome: null }),
  });
  await app.user.click(await page().findByRole('button', { name: 'Export CSV' }));
  await eventually(() => expect(savedFiles).toHaveLength(1));
  const [header = '', first = '', second = ''] = (await savedFiles[0]?.blob.text())?.split('\r\n') ?? [];
  expect(header).toContain(',Workflow ID,Outcome,Outcome Reason,Status,Workflow Error,');
  expect(first).toContain(`,${ids.workflow},Partial 1/2,Order not filled,Completed,`);
  expect(second).toContain(',,,,Completed,');
});

// Requirements: additions-outcome-3
test('the users of a signal show what became of each before whether they were eligible', async () => {
  const [user] = recorded['GET /api/signals/01a20be8-1ac2-758a-89b4-074e74df52bc/users'];
  const none = { reason: null, token: 'ETH', filledQuantity: null, averagePrice: null, net: null };
  const cases = [
    [
      { ...none, kind: 'filled', filledQuantity: '22.6', averagePrice: '3000' },
      'success',
      'Filled',
      '22.6 ETH at $3,000.00',
    ],
    [
      { ...none, kind: 'partial', filledQuantity: '2', averagePrice: '0.00001234' },
      'warning',
      'Partly filled',
      '2 ETH at $0.00001234',
    ],
    [
      { ...none, kind: 'not_filled', reason: 'Order not filled' },
      'failure',
      'Not filled',
      'Order not filled',
    ],
    [{ ...none, kind: 'skipped', reason: 'ATR is required' }, 'neutral', 'Skipped', 'ATR is required'],
    [{ ...none, kind: 'filled', net: '-12.5' }, 'success', 'Filled', 'Closed, net −$12.50'],
    [{ ...none, kind: 'running' }, 'info', 'Running', ''],
  ] as const;
  const users = cases.map(([outcome], at) => ({ ...user, id: `user-${at}`, status: 'eligible', outcome }));
  const ineligible = { ...user, id: 'off', status: 'not eligible', reason: 'Trading is off', outcome: null };
  const shown = [...users, ineligible];
  for (const [path, title] of [
    [`/signals?dialog=users&signal=${ids.signal}`, 'Users for Signal'],
    [`/automation-workflows?dialog=users&signal=${ids.signal}&workflow=${ids.workflow}`, 'Eligible Users'],
  ] as const) {
    renderApp(path, {
      [`GET /api/signals/${ids.signal}/users`]: shown,
      [`GET /api/automation-workflows/${ids.workflow}/users`]: shown,
    });
    const opened = await dialog(title);
    const items = await opened.findAllByRole('listitem');
    expect(items).toHaveLength(shown.length);
    for (const [at, [, tone, label, text]] of cases.entries()) {
      const badges = [...(items[at]?.querySelectorAll<HTMLElement>('[data-tone]') ?? [])];
      expect(badges.map((badge) => [badge.dataset.tone, badge.textContent])).toEqual([
        [tone, label],
        ['accent', 'Eligible'],
      ]);
      const [first, second] = [...(items[at]?.querySelectorAll('p') ?? [])].map((line) => line.textContent);
      expect(text === '' ? second : first).toBe(text === '' ? undefined : text);
    }
    const badges = items.at(-1)?.querySelectorAll('[data-tone]') ?? [];
    expect([...badges].map(({ textContent }) => textContent)).toEqual(['Not eligible']);
  }
});

// Requirements: additions-outcome-2
test('the details and the workflows of a signal show the outcome', async () => {
  renderApp(`/signals?dialog=signal&signal=${ids.signal}`);
  const details = await dialog('Signal Details');
  expect((await details.findByText('Outcome')).nextElementSibling?.textContent).toBe('Completed Filled 1/1');
  renderApp(`/signals?dialog=workflows&signal=${ids.signal}`);
  const [automatic, manual] = await (await dialog('Workflows for Signal')).findAllByRole('article');
  expect(automatic?.textContent).toContain('Aborted Not traded');
  expect(manual?.textContent).toContain('Completed Filled 1/1');
});
