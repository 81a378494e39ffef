// @vitest-environment jsdom
import { Blob } from 'node:buffer';
import { describe, expect, test, vi } from 'vitest';
import { AUDIT_ACTIONS } from '#contract/audit-actions.ts';
import { firstCases, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import {
  alertOf,
  type Call,
  dialog,
  eventually,
  expectGone,
  failure,
  fill,
  findTitle,
  PENDING,
  page,
  recorded,
  renderApp,
  rowsOf,
  savedFiles,
  scopeOf,
  textIn,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const AUDIT = 'GET /api/audit';
const rows = () => rowsOf('Audit Trail');
const texts = () => rows().map((row) => row.textContent);
const answerOf = (...entries: object[]) => ({ entries, total: entries.length });

const changed = {
  id: 'changed',
  sequence: 12,
  at: '2026-11-24T04:54:40.512Z',
  actor: { kind: 'user', id: 'id-of-ann', name: 'ann@example.com' },
  address: '203.0.113.7',
  action: 'settings changed',
  subject: { kind: 'user', id: 'id-of-bob', name: 'bob@example.com' },
  before: { portion: '0.1', exchange: 'Bitget', isTestUser: true },
  after: { portion: '0.2', exchange: 'Bybit', isTestUser: true },
  requestId: 'req-7',
};
const started = {
  ...changed,
  id: 'started',
  sequence: null,
  actor: { kind: 'program', id: null, name: 'Signal Board' },
  address: null,
  action: 'program started',
  subject: { kind: 'installation', id: null, name: null },
  before: null,
  after: null,
  requestId: null,
};

const signedInFrom = (displayTimezone: string) => ({ ...recorded['GET /api/auth/user'], displayTimezone });

describe('the audit trail', () => {
  test('shows who did what to whom, and what changed', async () => {
    renderApp('/audit', { [AUDIT]: answerOf(changed, started) });
    await findTitle('Audit');
    await eventually(() => expect(rows()).toHaveLength(2));
    expect(
      page()
        .getAllByRole('columnheader')
        .map((header) => header.textContent),
    ).toEqual(['Time', 'Who', 'Action', 'Subject', 'Change', 'Sequence']);
    const cells = rows().map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent));
    expect(cells[0]?.slice(1)).toEqual([
      'ann@example.comUser · 203.0.113.7',
      'Settings changed',
      'bob@example.comUser',
      'portion 0.1 → 0.2, exchange Bitget → Bybit',
      '12',
    ]);
    expect(cells[0]?.[0]).toMatch(/^2026\/11\/2\d \d\d:\d\d:40$/);
    expect(cells[1]?.slice(1)).toEqual(['Signal BoardProgram', 'Program started', 'Installation', '–', '–']);
    page().getByText('2 entries');
  });

  // Requirements: additions-audit-4
  test('links the signed export with the filters of the list', async () => {
    const filters = new URLSearchParams({ action: 'user created', to: '2026-11-24T03:30:59.999Z' });
    const app = renderApp(`/audit?page=2&${filters}`, { [AUDIT]: answerOf(changed) });
    const link = () => page().getByRole('link', { name: 'Signed Export' });
    await eventually(() => expect(link().getAttribute('href')).toBe(`/api/audit/export?${filters}`));
    await app.user.click(page().getByRole('button', { name: 'Clear Filters' }));
    await eventually(() => expect(link().getAttribute('href')).toBe('/api/audit/export'));
  });

  testEveryCase('is a card per row on a phone', async () => {
    renderApp('/audit', { [AUDIT]: answerOf(changed, started) }, { widthPx: 390 });
    await eventually(() => expect(rows()).toHaveLength(2));
    const labels = rows().map((row) =>
      [...row.querySelectorAll('td')].map((cell) => cell.dataset.label ?? cell.dataset.place),
    );
    expect(labels[0]).toEqual(['Time', 'Who', 'title', 'Subject', 'Change', 'Sequence']);
    const left = [...(rows()[1]?.querySelectorAll<HTMLElement>('[data-empty]') ?? [])];
    expect(left.map((cell) => cell.dataset.label)).toEqual(['Change', 'Sequence']);
  });

  test('has filters in the URL, which return to page 1 and are cleared together', async () => {
    const app = renderApp('/audit?page=2', {
      [AUDIT]: ({ query }: Call) => ({
        entries: Object.keys(query).length > 2 ? [] : [changed],
        total: Object.keys(query).length > 2 ? 0 : 51,
      }),
      'GET /api/auth/user': signedInFrom('Asia/Tokyo'),
    });
    await page().findByText('Page 2 of 2');
    const action = page().getByLabelText('Action');
    expect([...action.querySelectorAll('option')].map(({ value }) => value)).toEqual(['', ...AUDIT_ACTIONS]);
    await app.user.selectOptions(action, 'User created');
    await page().findByText('No entries match');
    fill(page().getByLabelText('Actor'), ' ann ');
    fill(page().getByLabelText('Subject'), 'bob');
    fill(page().getByLabelText('From'), '2026-11-24T00:00');
    fill(page().getByLabelText('To'), '2026-11-24T12:30');
    const wanted = {
      action: 'user created',
      actor: 'ann',
      subject: 'bob',
      from: '2026-11-23T15:00:00.000Z',
      // The whole minute.
      to: '2026-11-24T03:30:59.999Z',
    };
    await eventually(() =>
      expect(app.sent(AUDIT).at(-1)?.query).toEqual({ page: '1', limit: '50', ...wanted }),
    );
    expect(app.address()).toBe(`/audit?${new URLSearchParams(wanted)}`);

    app.reload();
    await page().findByText('No entries match');
    expect(textIn(page().getByLabelText('From'))).toBe('2026-11-24T00:00');
    expect(textIn(page().getByLabelText('To'))).toBe('2026-11-24T12:30');
    await app.user.click(page().getByRole('button', { name: 'Clear Filters' }));
    await eventually(() => expect(app.address()).toBe('/audit'));
    for (const name of ['Actor', 'Subject', 'From', 'To', 'Action'])
      expect(textIn(page().getByLabelText(name)), name).toBe('');
    await eventually(() => expect(rows()).toHaveLength(1));
  });

  testEveryCase('sends no time while its year is still typed, and none that cannot be read', async () => {
    const app = renderApp('/audit?from=yesterday&to=2026-11-24', { [AUDIT]: answerOf(changed) });
    await eventually(() => expect(rows()).toHaveLength(1));
    fill(page().getByLabelText('From'), '0202-11-24T00:00');
    fill(page().getByLabelText('Actor'), 'ann');
    await eventually(() => expect(app.sent(AUDIT)).toHaveLength(2));
    expect(app.sent(AUDIT).map(({ query }) => [query.actor, query.from, query.to])).toEqual([
      [undefined, undefined, '2026-11-24T00:00:00.000Z'],
      ['ann', undefined, '2026-11-24T00:00:00.000Z'],
    ]);
  });

  test('says when there are no entries', async () => {
    renderApp('/audit', { [AUDIT]: answerOf() });
    await page().findByText('No entries');
  });

  test('starts with skeletons, and reports a failed fetch with a retry', async () => {
    const app = renderApp('/audit', { [AUDIT]: PENDING });
    const table = await page().findByRole('table', { name: 'Audit Trail' });
    expect(table.getAttribute('aria-busy')).toBe('true');
    app.answers[AUDIT] = UNREACHABLE;
    app.reload();
    const alert = await alertOf('Failed to fetch the audit trail');
    expect(alert.element.textContent).toContain('The server cannot be reached');
    app.answers[AUDIT] = answerOf(changed);
    await app.user.click(alert.getByRole('button', { name: 'Try again' }));
    await eventually(() => expect(rows()).toHaveLength(1));
  });

  test('shows a refused filter as the failure of the fetch', async () => {
    renderApp('/audit?action=unheard', { [AUDIT]: failure(400, 'action is not known') });
    await alertOf('action is not known');
  });

  testEveryCase('is fetched again when its page opens again', async () => {
    const app = renderApp('/audit', { [AUDIT]: answerOf(changed) });
    await eventually(() => expect(rows()).toHaveLength(1));
    // The poll would fetch it as well.
    await app.user.click(page().getByRole('button', { name: 'Pause' }));
    await page().findByRole('button', { name: 'Resume' });
    await app.user.click(page().getAllByRole('link', { name: 'Users' })[0] ?? document.body);
    await findTitle('Users');
    app.answers[AUDIT] = answerOf(started, changed);
    await app.user.click(page().getAllByRole('link', { name: 'Audit' })[0] ?? document.body);
    await eventually(() => expect(rows()).toHaveLength(2));
  });

  test('is not there for an ordinary user', async () => {
    const app = renderApp('/audit', {}, { user: { isAdmin: false } });
    await findTitle('Page Not Found');
    expect(app.sent(AUDIT)).toEqual([]);
  });
});

describe('an entry', () => {
  const openFirst = async (app: ReturnType<typeof renderApp>) => {
    await eventually(() => expect(rows().length).toBeGreaterThan(0));
    await app.user.click(scopeOf(rows()[0] ?? document.body).getByRole('button'));
  };

  test('opens with all fields, before and after side by side, and closes with Escape', async () => {
    const app = renderApp('/audit', { [AUDIT]: answerOf(changed) });
    await openFirst(app);
    const entry = await dialog('Settings changed');
    expect(app.address()).toBe('/audit?entry=changed');
    for (const [name, value] of Object.entries({
      Sequence: '12',
      Who: 'ann@example.com',
      'Kind of actor': 'User',
      'Actor ID': 'id-of-ann',
      Address: '203.0.113.7',
      'Kind of subject': 'User',
      'Subject ID': 'id-of-bob',
      'Request ID': 'req-7',
      'Entry ID': 'changed',
    })) {
      expect((await entry.findByText(name)).nextElementSibling?.textContent, name).toBe(value);
    }
    const values = [...entry.element.querySelectorAll('tbody tr')];
    expect(values.map((row) => [...row.children].map((cell) => cell.textContent))).toEqual([
      ['Portion', '0.1', '0.2'],
      ['Exchange', 'Bitget', 'Bybit'],
      ['Is test user', 'yes', 'yes'],
    ]);
    expect(values.map((row) => row.hasAttribute('data-changed'))).toEqual([true, true, false]);
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('dialog'));
    expect(app.address()).toBe('/audit');
  });

  test('without values says so, and that it is not sealed yet', async () => {
    const app = renderApp('/audit', { [AUDIT]: answerOf(started) });
    await openFirst(app);
    const entry = await dialog('Program started');
    await entry.findByText('This entry has no values.');
    entry.getByText('Not sealed yet');
    expect(entry.queryByText('Actor ID')).toBeNull();
  });

  const fields = Object.keys(changed).filter((name) => name !== 'id');
  test.each(oneOfEachKind(fields, (name) => name === 'actor'))(
    'without %s is shown, and opens',
    async (name) => {
      for (const loss of firstCases([undefined, null])) {
        const app = renderApp('/audit', { [AUDIT]: answerOf({ ...changed, [name]: loss }) });
        await openFirst(app);
        await page().findByRole('dialog');
        await page().findByText('Entry ID');
        expect(document.body.textContent).not.toMatch(
          /undefined|NaN|\bnull\b|Invalid Date|\[object Object\]/,
        );
      }
    },
  );

  testEveryCase('of an actor without a kind leaves the kind out', async () => {
    const actor = { id: null, name: 'ann@example.com' };
    const app = renderApp('/audit', { [AUDIT]: answerOf({ ...changed, actor }) });
    await eventually(() => expect(texts()[0]).toContain('ann@example.com203.0.113.7'));
    await openFirst(app);
    await page().findByText('Entry ID');
    expect(page().queryByText('Kind of actor')).toBeNull();
  });
});

test('the export has the entries of all pages that match, up to the newest of the first page', async () => {
  vi.stubGlobal('Blob', Blob);
  const entries = [
    changed,
    started,
    ...Array.from({ length: 1500 }, (_, at) => ({ ...started, id: `e${at}` })),
  ];
  const app = renderApp('/audit?actor=ann&to=2026-12-01T00:00:59.999Z', {
    [AUDIT]: ({ query }: Call) => {
      const [limit, start] = [Number(query.limit), (Number(query.page) - 1) * Number(query.limit)];
      const shown = limit === 50 ? entries.slice(0, 1) : entries.slice(start, start + limit);
      return { entries: shown, total: entries.length };
    },
  });
  await eventually(() => expect(rows()).toHaveLength(1));
  await app.user.click(page().getByRole('button', { name: 'Export CSV' }));
  await eventually(() => expect(savedFiles).toHaveLength(1));
  expect(savedFiles[0]?.name).toMatch(/^audit-\d{4}-\d\d-\d\d\.csv$/);
  const lines = (await savedFiles[0]?.blob.text())?.trim().split('\r\n') ?? [];
  expect(lines[0]).toBe(
    'ID,Sequence,Time,Actor,Actor Kind,Actor ID,Address,Action,Subject,Subject Kind,Subject ID,Before,After,Request ID',
  );
  expect(lines).toHaveLength(entries.length + 1);
  expect(lines[1]).toContain(
    'ann@example.com,user,id-of-ann,203.0.113.7,settings changed,bob@example.com,user',
  );
  expect(lines[1]).toContain('"{""portion"":""0.1"",""exchange"":""Bitget"",""isTestUser"":true}"');
  const exported = app.sent(AUDIT).filter(({ query }) => query.limit === '1000');
  expect(exported.map(({ query }) => [query.page, query.actor, query.to])).toEqual([
    ['1', 'ann', '2026-12-01T00:00:59.999Z'],
    ['2', 'ann', changed.at],
  ]);
});
