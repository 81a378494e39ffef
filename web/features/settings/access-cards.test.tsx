// @vitest-environment jsdom
import { beforeEach, describe, expect, test } from 'vitest';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import {
  type Answers,
  alertOf,
  chosen,
  dialog,
  eventually,
  expectGone,
  expectToast,
  Failure,
  failure,
  fill,
  ids,
  isChecked,
  PENDING,
  page,
  recorded,
  renderApp,
  scopeOf,
  textIn,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const SESSIONS = 'GET /api/auth/sessions';
const END_OTHERS = 'DELETE /api/auth/sessions';
const TOKENS = 'GET /api/tokens';
const CREATE = 'POST /api/tokens';
const DAY_MS = 86_400_000;

const card = async (title: string) =>
  scopeOf(
    (await page().findByRole('heading', { level: 2, name: title })).closest('section') ?? document.body,
  );
const itemsOf = (list: string) =>
  [...(page().queryByRole('list', { name: list })?.children ?? [])].filter(
    (item): item is HTMLElement => item instanceof HTMLElement,
  );
const textsOf = (item: HTMLElement | undefined) =>
  [...(item?.querySelectorAll('span, button') ?? [])]
    .filter(({ children }) => children.length === 0)
    .map(({ textContent }) => textContent);

const phone = {
  id: 'phone',
  current: false,
  device: 'Chrome on Android',
  address: '203.0.113.20',
  createdAt: '2026-11-23T18:20:02.640Z',
  lastSeenAt: '2026-11-23T21:02:11.904Z',
};
const here = { ...phone, id: 'here', current: true, device: 'Firefox on Linux', address: '127.0.0.1' };

/** The server's sessions or tokens, of which a DELETE takes one away. */
let sessions = [phone, here];
const sessionAnswers: Answers = {
  [SESSIONS]: () => ({ sessions }),
  'DELETE /api/auth/sessions/phone': () => {
    sessions = sessions.filter(({ id }) => id !== 'phone');
    return { message: 'The session was ended' };
  },
  [END_OTHERS]: () => {
    sessions = [here];
    return { message: 'All other sessions were ended' };
  },
};
const token = {
  id: 'backup',
  name: 'Backup script',
  hint: '…x7Qk',
  scopes: ['read', 'trade'],
  createdAt: '2026-11-24T04:54:45.002Z',
  expiresAt: null as string | null,
  lastUsedAt: null as string | null,
};

beforeEach(() => {
  sessions = [phone, here];
});

describe('the sessions', () => {
  test('show device, address and last use, and mark the one that asks', async () => {
    renderApp('/settings', sessionAnswers);
    await eventually(() => expect(itemsOf('Sessions')).toHaveLength(2));
    const [other, own] = itemsOf('Sessions');
    expect(other?.textContent).toMatch(
      /^Chrome on Android203\.0\.113\.20Last seen 2026\/11\/2\d \d\d:02:11Sign out$/,
    );
    expect(own?.textContent).toContain('Firefox on LinuxThis session');
    expect(scopeOf(own ?? document.body).queryByRole('button')).toBeNull();
  });

  test('are ended one by one', async () => {
    const app = renderApp('/settings', sessionAnswers);
    const button = await page().findByRole('button', { name: /^Sign out Chrome on Android/ });
    app.answers['DELETE /api/auth/sessions/phone'] = UNREACHABLE;
    await app.user.click(button);
    await expectToast('Error', 'The session was not ended');
    expect(itemsOf('Sessions')).toHaveLength(2);
    app.answers['DELETE /api/auth/sessions/phone'] = sessionAnswers['DELETE /api/auth/sessions/phone'];
    await app.user.click(button);
    await expectToast('Signed Out', 'The session was ended');
    await eventually(() => expect(itemsOf('Sessions')).toHaveLength(1));
    expect(page().queryByRole('button', { name: 'Sign out all others' })).toBeNull();
  });

  test('are ended together after a confirmation, which names a refusal', async () => {
    const app = renderApp('/settings', { ...sessionAnswers, [END_OTHERS]: failure(500, 'Not now') });
    await app.user.click(await page().findByRole('button', { name: 'Sign out all others' }));
    const question = await dialog('Sign Out All Others');
    expect(app.sent(END_OTHERS)).toEqual([]);
    const confirm = question.getByRole('button', { name: 'Sign out all others' });
    await app.user.click(confirm);
    await question.findByText('Not now');
    app.answers[END_OTHERS] = sessionAnswers[END_OTHERS];
    await app.user.click(confirm);
    await expectToast('Signed Out', 'All other sessions were ended');
    await expectGone(() => page().queryByRole('dialog'));
    await eventually(() => expect(itemsOf('Sessions')).toHaveLength(1));
  });

  test('say that they load, cannot be fetched, or are none', async () => {
    const app = renderApp('/settings', { [SESSIONS]: PENDING });
    (await card('Sessions')).getByText('Loading...');
    app.answers[SESSIONS] = UNREACHABLE;
    app.reload();
    const alert = await alertOf('Failed to fetch sessions');
    app.answers[SESSIONS] = { sessions: [] };
    await app.user.click(alert.getByRole('button', { name: 'Try again' }));
    await page().findByText('No sessions');
  });

  testEveryCase('are shown without the fields that the answer lacks', async () => {
    renderApp('/settings', { [SESSIONS]: { sessions: [{ id: 'bare', current: false }, null] } });
    await eventually(() => expect(itemsOf('Sessions')).toHaveLength(1));
    expect(textsOf(itemsOf('Sessions')[0])).toEqual(expect.arrayContaining(['Last seen N/A', 'Sign out']));
    expect(itemsOf('Sessions')[0]?.textContent).toContain('Unknown device');
  });

  test('and tokens belong to the signed-in user: the settings of another user show neither', async () => {
    const app = renderApp(`/settings?userId=${ids.user}`);
    await page().findByRole('heading', { level: 2, name: 'Account status' });
    await page().findByRole('heading', { level: 2, name: 'Exchange Connection' });
    expect(page().queryByRole('heading', { level: 2, name: 'Sessions' })).toBeNull();
    expect([...app.sent(SESSIONS), ...app.sent(TOKENS)]).toEqual([]);
  });
});

describe('the API tokens', () => {
  test('show scopes, hint, last use and end', async () => {
    const soon = { ...token, id: 'soon', scopes: ['read'], expiresAt: '2999-01-01T00:00:00.000Z' };
    const gone = {
      ...token,
      id: 'gone',
      expiresAt: '2026-01-01T12:00:00.000Z',
      lastUsedAt: '2025-12-31T12:00:00.000Z',
    };
    renderApp('/settings', { [TOKENS]: { tokens: [token, soon, gone] } });
    await eventually(() => expect(itemsOf('API tokens')).toHaveLength(3));
    const [first, second, third] = itemsOf('API tokens').map((item) => item.textContent);
    expect(first).toBe('Backup scriptReadTrade…x7QkNever usedNever expiresDelete');
    expect(second).toContain('Read…x7QkNever usedExpires 2');
    expect(third).toContain('Expired…x7QkLast used 2025/12/31');
    expect(third).toContain('Expired 2026/01/01');
  });

  test('are deleted after a confirmation', async () => {
    let tokens = [token];
    const app = renderApp('/settings', {
      [TOKENS]: () => ({ tokens }),
      'DELETE /api/tokens/backup': failure(404, 'API token not found'),
    });
    await app.user.click(await page().findByRole('button', { name: 'Delete token Backup script …x7Qk' }));
    const question = await dialog('Delete API Token');
    question.getByText('Backup script …x7Qk');
    const confirm = question.getByRole('button', { name: 'Delete token' });
    await app.user.click(confirm);
    await question.findByText('API token not found');
    app.answers['DELETE /api/tokens/backup'] = () => {
      tokens = [];
      return { message: 'The token was deleted' };
    };
    await app.user.click(confirm);
    await expectToast('API Token Deleted', 'The token was deleted');
    await page().findByText('No API tokens');
  });

  testEveryCase('say that they load, cannot be fetched, or lack fields', async () => {
    const app = renderApp('/settings', { [TOKENS]: PENDING });
    (await card('API tokens')).getByText('Loading...');
    app.answers[TOKENS] = UNREACHABLE;
    app.reload();
    const alert = await alertOf('Failed to fetch API tokens');
    app.answers[TOKENS] = { tokens: [{ id: 'bare' }, null] };
    await app.user.click(alert.getByRole('button', { name: 'Try again' }));
    await eventually(() => expect(itemsOf('API tokens')).toHaveLength(1));
    expect(itemsOf('API tokens')[0]?.textContent).toBe('–Never usedNever expiresDelete');
  });

  testEveryCase('are fetched again when the settings open again', async () => {
    const app = renderApp('/settings', { [TOKENS]: { tokens: [] }, [SESSIONS]: { sessions: [here] } });
    await page().findByText('No API tokens');
    await app.user.click(page().getByRole('link', { name: 'Signal Board' }));
    await page().findByRole('heading', { level: 1, name: /^Welcome, / });
    app.answers[TOKENS] = { tokens: [token] };
    app.answers[SESSIONS] = { sessions: [here, phone] };
    const { username } = recorded['GET /api/auth/user'].user;
    await app.user.click(page().getByRole('button', { name: username }));
    await app.user.click(await page().findByRole('menuitem', { name: 'Settings' }));
    await eventually(() => expect(itemsOf('API tokens')).toHaveLength(1));
    await eventually(() => expect(itemsOf('Sessions')).toHaveLength(2));
  });
});

describe('creating a token', () => {
  const created = { ...token, id: 'new', token: 'sb_the-whole-token' };
  const open = async (app: ReturnType<typeof renderApp>) => {
    await app.user.click(await page().findByRole('button', { name: 'Create token' }));
    return await dialog('Create API Token');
  };
  const submit = async (app: ReturnType<typeof renderApp>) => {
    const form = await dialog('Create API Token');
    await app.user.click(form.getByRole('button', { name: 'Create token' }));
  };

  test('needs a name and a scope, explains each scope, and offers Admin to administrators', async () => {
    const app = renderApp('/settings');
    const form = await open(app);
    expect(document.activeElement).toBe(form.getByLabelText(/^Name/));
    const scopes = scopeOf(form.getByRole('group', { name: 'Scopes' }));
    expect(scopes.getAllByRole('checkbox').map(isChecked)).toEqual([true, false, false]);
    for (const text of ['See everything', 'Trigger workflows', 'Manage users']) {
      scopes.getByText(new RegExp(`^${text}`));
    }
    const expiry = form.getByLabelText('Expires');
    expect(chosen(expiry)).toBe('90 days');
    expect([...expiry.querySelectorAll('option')].map((option) => option.textContent)).toEqual([
      '30 days',
      '90 days',
      '1 year',
      'Never',
    ]);
    await app.user.click(scopes.getByLabelText('Read'));
    await submit(app);
    form.getByText('Name is required');
    form.getByText('Choose at least one scope');
    await app.user.click(scopes.getByLabelText('Admin'));
    expect(form.queryByText('Choose at least one scope')).toBeNull();
    expect(app.sent(CREATE)).toEqual([]);
  });

  test('offers an ordinary user no scope Admin', async () => {
    const app = renderApp('/settings', {}, { user: { isAdmin: false } });
    const form = await open(app);
    expect(form.getAllByRole('checkbox')).toHaveLength(2);
    expect(form.queryByLabelText('Admin')).toBeNull();
  });

  const ends = [
    ['30 days', 30],
    ['90 days', 90],
    ['1 year', 365],
    ['Never', null],
  ] as const;
  test.each(oneOfEachKind(ends, ([label]) => label === '90 days'))(
    'sends an end for %s',
    async (label, days) => {
      const app = renderApp('/settings', { [CREATE]: PENDING });
      const form = await open(app);
      fill(form.getByLabelText(/^Name/), ' Backup script ');
      await app.user.click(form.getByLabelText('Trade'));
      await app.user.selectOptions(form.getByLabelText('Expires'), label);
      const beforeMs = Date.now();
      await submit(app);
      await form.findByRole('button', { name: 'Creating...' });
      const body = app.sent(CREATE)[0]?.body as { expiresAt: string | null };
      expect(body).toEqual({ name: 'Backup script', scopes: ['read', 'trade'], expiresAt: body.expiresAt });
      if (days === null) expect(body.expiresAt).toBeNull();
      else {
        const endMs = Date.parse(body.expiresAt ?? '');
        expect(endMs).toBeGreaterThanOrEqual(beforeMs + days * DAY_MS);
        expect(endMs).toBeLessThanOrEqual(Date.now() + days * DAY_MS);
      }
    },
  );

  test('shows the token once, to copy, and forgets it with the dialog', async () => {
    let tokens: object[] = [];
    const app = renderApp('/settings', {
      [TOKENS]: () => ({ tokens }),
      [CREATE]: () => {
        tokens = [token];
        return created;
      },
    });
    const form = await open(app);
    await app.user.type(form.getByLabelText(/^Name/), 'Backup script{Enter}');
    const shown = await dialog('API Token Created');
    shown.getByText('It cannot be shown again.');
    const field = shown.getByLabelText('Token');
    expect(textIn(field)).toBe(created.token);
    await eventually(() => expect(document.activeElement).toBe(field));
    await app.user.click(shown.getByRole('button', { name: 'Copy' }));
    await expectToast('Copied', 'The token was copied to the clipboard');
    expect(await navigator.clipboard.readText()).toBe(created.token);
    // Nothing but Done closes it.
    await app.user.keyboard('{Escape}');
    expect(textIn(shown.getByLabelText('Token'))).toBe(created.token);
    expect(shown.queryByRole('button', { name: 'Close dialog' })).toBeNull();
    await app.user.click(shown.getByRole('button', { name: 'Done' }));
    await expectGone(() => page().queryByRole('dialog'));
    await eventually(() => expect(itemsOf('API tokens')).toHaveLength(1));
    expect(document.body.innerHTML).not.toContain(created.token);
    const again = await open(app);
    expect(textIn(again.getByLabelText(/^Name/))).toBe('');
  });

  test('keeps the input when it is refused, and says so at the field', async () => {
    const refusal = { message: 'The name is in use', errors: [{ path: 'name', message: 'In use already' }] };
    const app = renderApp('/settings', { [CREATE]: new Failure(400, refusal) });
    const form = await open(app);
    fill(form.getByLabelText(/^Name/), 'Backup script');
    await submit(app);
    await form.findByText('In use already');
    await expectToast('Failed to Create Token', 'The name is in use');
    app.answers[CREATE] = UNREACHABLE;
    await submit(app);
    await expectToast('Failed to Create Token', 'The token was not created');
    expect(textIn(form.getByLabelText(/^Name/))).toBe('Backup script');
  });

  testEveryCase('asks before input is lost', async () => {
    const app = renderApp('/settings');
    const form = await open(app);
    fill(form.getByLabelText(/^Name/), 'Backup script');
    await app.user.click(form.getByRole('button', { name: 'Cancel' }));
    await page().findByText('What you have entered here is lost when you leave.');
  });

  testEveryCase('says when the answer lacks the token', async () => {
    const app = renderApp('/settings', { [CREATE]: token });
    const form = await open(app);
    fill(form.getByLabelText(/^Name/), 'Backup script');
    await submit(app);
    await alertOf('Delete it and create another');
  });
});
