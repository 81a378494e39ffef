import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import type { TradingStopView } from '#contract/trading-stops.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { startWorld, type World } from '#test/world.ts';

// The command as an operator runs it, beside the running program.

const COMPILE_CACHE = join(import.meta.dirname, '..', '.cache', 'node');
const SECRET_KEY = 'the secret key of this test of stops, long enough';

let folder: string;
let board: World;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signal-board-stop-'));
  board = await startWorld({ config: { secretKey: SECRET_KEY } });
});
afterEach(() => board.query('delete from trading_stops'));
afterAll(async () => {
  await board.close();
  await rm(folder, { recursive: true });
});

async function run(...args: string[]) {
  const { host, port, user } = inject('testServer');
  const [{ name }] = await board.query('select current_database() as name');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'stop-trading.ts'), ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATA_DIR: folder,
      DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
      SECRET_KEY,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  return { code, output };
}

const list = async () => (await board.admin.get('/api/trading-stops')).json<TradingStopView[]>();

// Requirements: additions-stops-7
test('stops new entries for everybody, which the screens show and an administrator lifts', async () => {
  const { code, output } = await run('--reason', 'exchange maintenance');
  expect(output).toMatch(/^New entries are stopped for everybody\.\n/);
  expect(code).toBe(0);
  const [stop, ...more] = await list();
  expect(more).toEqual([]);
  expect(stop).toMatchObject({
    scope: { kind: 'all', value: null },
    reason: 'exchange maintenance',
    createdBy: 'npm run stop-trading',
    until: null,
  });
  const [entry] = await board.query(`select actor_kind, action from audit_log where subject_id = $1`, [
    stop?.id,
  ]);
  expect(entry).toEqual({ actor_kind: 'command', action: 'new entries stopped' });
  expect((await board.admin.delete(`/api/trading-stops/${stop?.id}`)).statusCode).toBe(204);
});

// Requirements: additions-stops-7
testEveryCase('stops one user by name until an instant', async () => {
  const { user, username } = await board.createUser();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const { code, output } = await run('--reason', 'news', '--user', username.toUpperCase(), '--until', until);
  expect(output).toContain(`until ${until}`);
  expect(code).toBe(0);
  expect(await list()).toMatchObject([{ scope: { kind: 'user', value: user.id }, until }]);
});

testEveryCase.each([
  [[], 'A reason is needed'],
  [
    ['--reason', 'news', '--token', 'BTC', '--strategy', 'Tesla'],
    'Only one of --strategy, --token and --user',
  ],
  [['--reason', 'news', '--token', 'btc'], 'value must be a token such as BTC'],
  [['--reason', 'news', '--user', 'nobody@example.com'], 'There is no user "nobody@example.com"'],
  [['--reason', 'news', '--until', '2020-01-01T00:00:00Z'], '--until must be in the future'],
  [['--why', 'news'], "Unknown option '--why'"],
])('%j is refused in one sentence, and stops nothing', async (args, message) => {
  const { code, output } = await run(...args);
  expect(output).toContain(message);
  expect(code).toBe(1);
  expect(await list()).toEqual([]);
});
