import { unzipSync } from 'fflate';
import { afterAll, expect, test } from 'vitest';
import type { StatementArchives } from '#contract/statements.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { startWorld } from '#test/world.ts';

const board = await startWorld({ engine: true, background: ['statement archives'] });
afterAll(() => board.close());
const ada = await board.createTrader();
const bob = await board.createUser();
const MONTH = '2025-10';
const PATH = '/api/admin/statement-archives';

const archivesOf = async () => (await board.admin.get(PATH)).json<StatementArchives>().archives;
const readyArchive = async (id: string) => {
  await expect
    .poll(async () => (await archivesOf()).find((one) => one.id === id)?.state, { timeout: 30_000 })
    .toBe('ready');
  const answer = await board.admin.get(`${PATH}/${id}/download`);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer;
};

// Requirements: results-statements-8
test('one file has the statement of every user of the month, and a list of all', async () => {
  await board.query(`update users set username = 'a/../../b', created_at = '2025-01-01' where id = $1`, [
    ada.user.id,
  ]);
  // Bob came later.
  await board.query(`update users set created_at = '2025-01-01' where id <> $1`, [bob.user.id]);
  const started = await board.admin.post(PATH, { month: MONTH });
  expect(started.statusCode, started.body).toBe(202);
  const { id } = started.json<{ id: string }>();
  const answer = await readyArchive(id);
  expect(answer.headers['content-type']).toBe('application/zip');
  expect(answer.headers['content-disposition']).toBe('attachment; filename="statements-2025-10.zip"');
  expect(await archivesOf()).toEqual([
    expect.objectContaining({
      ...{ id, month: MONTH, state: 'ready', users: 2, done: 2, incomplete: 0 },
      createdBy: board.config.adminUsername,
      bytes: answer.rawPayload.length,
    }),
  ]);

  const files = Object.entries(unzipSync(answer.rawPayload)).map(
    ([name, bytes]) => [name, Buffer.from(bytes).toString()] as const,
  );
  const base = `a_.._.._b-${ada.user.id.slice(0, 8)}-${MONTH}`;
  expect(files.map(([name]) => name).filter((name) => name.startsWith('a_'))).toEqual([
    `${base}.html`,
    `${base}.csv`,
  ]);
  expect(files).toHaveLength(2 * 2 + 1);
  for (const format of ['html', 'csv']) {
    const own = await board.admin.get(`/api/statements/${ada.user.id}?month=${MONTH}&format=${format}`);
    expect(Object.fromEntries(files)[`${base}.${format}`]).toBe(own.body);
  }
  const list = Object.fromEntries(files)[`statements-${MONTH}.csv`]?.trimEnd().split('\r\n');
  expect(list).toHaveLength(1 + 2);
  expect(list).toContain(`a/../../b,${ada.user.id},${MONTH},yes,0,0,unknown,unknown,0,0,0.00`);
});

// Requirements: results-statements-8
test('an archive that an instance left unfinished is made, and a second request for its month joins it', async () => {
  const id = timeOrderedId();
  await board.query(
    `insert into statement_archives (id, month, requested_by, created_at, users, done)
      select $1, '2025-09', id, now(), 7, 3 from users where is_admin limit 1`,
    [id],
  );
  expectAnswer(await board.admin.post(PATH, { month: '2025-09' }), 202, { id });
  await readyArchive(id);
  expect((await archivesOf())[0]).toMatchObject({ id, users: 2, done: 2 });
});

test('a day after it was made it is deleted', async () => {
  const [first] = await archivesOf();
  await board.query(`update statement_archives set ended_at = now() - interval '25 hours' where id = $1`, [
    first?.id ?? '',
  ]);
  expectAnswer(
    await board.admin.get(`${PATH}/${first?.id}/download`),
    404,
    'These statements are not ready, or were deleted a day after they were',
  );
  const next = await board.admin.post(PATH, { month: '2025-08' });
  await readyArchive(next.json<{ id: string }>().id);
  await expect
    .poll(() => board.query('select from statement_archives where id = $1', [first?.id ?? '']))
    .toEqual([]);
});

// Requirements: results-statements-9
test('only administrators ask for it, see it and download it', async () => {
  const [ready] = await archivesOf();
  expect(ready?.state).toBe('ready');
  for (const path of [PATH, `${PATH}/${ready?.id}/download`]) {
    expectAnswer(await ada.client.get(path), 403, 'Administrators only');
  }
  expectAnswer(await ada.client.post(PATH, { month: MONTH }), 403, 'Administrators only');
  expect((await board.admin.get(`${PATH}/${UNKNOWN_ID}/download`)).statusCode).toBe(404);
  expect((await board.admin.post(PATH, { month: '2026-13' })).statusCode).toBe(400);
});
