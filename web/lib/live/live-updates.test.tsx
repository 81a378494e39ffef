// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import type { Change, EventName } from '#contract/events.ts';
import {
  dialog,
  eventually,
  ids,
  page,
  recorded,
  renderApp,
  rowsOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const SIGNALS = 'GET /api/signals';
const STEPS = `GET /api/automation-workflows/${ids.workflow}/steps`;
const POLL_MS = 30_000;

/** The streams that the app has opened, which the test speaks in. */
class TestStream extends EventTarget {
  static readonly opened: TestStream[] = [];

  constructor() {
    super();
    TestStream.opened.push(this);
  }
  close() {}
  say(event: EventName | 'error', changes: readonly Change[] = []) {
    this.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(changes) }));
  }
}
beforeEach(() => void TestStream.opened.splice(0));

/** The app at a path, with its first stream ready. */
async function openLive(path: string, answers: Record<string, unknown> = {}) {
  const app = renderApp(path, answers);
  vi.stubGlobal('EventSource', TestStream);
  const stream = await eventually(() => TestStream.opened[0] ?? expect.fail('no stream'));
  stream.say('ready');
  await expectStatus('Live');
  return { app, stream };
}

const expectStatus = (text: string) =>
  eventually(() =>
    expect(
      page()
        .getAllByRole('status')
        .map((one) => one.textContent),
    ).toContain(text),
  );

const [signal] = recorded[SIGNALS].signals;
const only = (...tokens: string[]) => ({
  ...recorded[SIGNALS],
  signals: tokens.map((token) => ({ ...signal, id: `${token}-${signal?.id}`, token })),
  total: tokens.length,
});
const shown = () => rowsOf('Signal History').map((row) => /OLD|NEW/.exec(row.textContent ?? '')?.[0]);

// Requirements: live-updates-3
test('a paused screen stays unchanged, announces news and catches up', async () => {
  const { app, stream } = await openLive('/signals', { [SIGNALS]: only('OLD') });
  await eventually(() => expect(shown()).toEqual(['OLD']));
  expect(page().getByText(/^updated \d+ s ago$/)).toBeDefined();
  await app.user.click(page().getByRole('button', { name: 'Pause' }));
  await expectStatus('Paused');
  app.answers[SIGNALS] = only('NEW', 'OLD');
  const before = app.sent(SIGNALS).length;
  stream.say('changes', [{ topic: 'signals' }]);
  await expectStatus('Paused, there is something new');
  expect([shown(), app.sent(SIGNALS).length]).toEqual([['OLD'], before]);
  await app.user.click(page().getByRole('button', { name: 'Resume' }));
  await eventually(() => expect(shown()).toEqual(['NEW', 'OLD']));
  await expectStatus('Live');
});

// Requirements: live-updates-2
test('the steps of a workflow appear while it runs', async () => {
  const steps = (recorded as Record<string, unknown>)[STEPS] as object[];
  const running = { ...steps[0], status: 'started', completedAt: null };
  const { app, stream } = await openLive('/automation-workflows', { [STEPS]: [running] });
  const buttons = await page().findAllByRole('button', { name: /steps of workflow/ });
  await app.user.click(buttons[0] ?? expect.fail('no run'));
  const shownSteps = await dialog('Workflow Execution Steps');
  const text = () => shownSteps.element.textContent;
  await eventually(() => expect(text()).toContain('Validate Signal'));
  expect(text()).not.toContain('Check Environment');
  app.answers[STEPS] = steps;
  stream.say('changes', [{ topic: 'workflow-steps', workflowId: ids.workflow }]);
  await eventually(() => expect(text()).toContain('Check Environment'));
});

// Requirements: live-updates-4
test('a lost stream is reported, the screen goes on by polling, and a new stream brings what was missed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { app, stream } = await openLive('/signals', { [SIGNALS]: only('OLD') });
    await eventually(() => expect(shown()).toEqual(['OLD']));
    app.answers['GET /api/auth/user'] = UNREACHABLE;
    stream.say('error');
    await expectStatus('Live updates are down, refreshing every 30 s');
    app.answers[SIGNALS] = only('NEW', 'OLD');
    vi.advanceTimersByTime(POLL_MS);
    await eventually(() => expect(shown()).toEqual(['NEW', 'OLD']));
    app.answers[SIGNALS] = only('OLD');
    delete app.answers['GET /api/auth/user'];
    // A page that is shown again does not wait for its turn to reconnect.
    document.dispatchEvent(new Event('visibilitychange'));
    const next = await vi.waitFor(() => TestStream.opened[1] ?? expect.fail('no second stream'), 20_000);
    next.say('ready');
    await eventually(() => expect(shown()).toEqual(['OLD']));
    await expectStatus('Live');
  } finally {
    vi.useRealTimers();
  }
});
