import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hooks, secretKeyChecks } from '#server/platform/db/schema.ts';
import { StartError } from '#server/platform/db/start-error.ts';
import { keyCheckOf } from '#server/platform/secret-keys/key-state.ts';
import { startWorld } from '#test/world.ts';
import { checkSecretKey, forgetSecretKey } from './check-secret-key.ts';

const OTHER = 'another secret key, of the right length';
const warnings: string[] = [];
const log = { warn: (_fields: object, text?: string) => void warnings.push(text ?? String(_fields)) };

const ownKey = 'the secret key of this test, long enough';
const board = await startWorld({ config: { secretKey: ownKey } });
afterAll(() => board.close());
beforeEach(async () => {
  const { db } = board.database;
  await db.delete(secretKeyChecks);
  await db.delete(hooks);
});
afterEach(() => {
  warnings.length = 0;
});

const check = (secretKey: string, replace = false) =>
  checkSecretKey({ db: board.database.db, keys: { secretKey, nextKey: null }, replace, log: log as never });
const createHook = () => board.admin.post('/api/hooks', {});

describe('the secret key at startup', () => {
  test('must be the key of the first start', async () => {
    await check(ownKey);
    await check(ownKey);
    await expect(check(OTHER)).rejects.toThrow(StartError);
    await expect(check(OTHER)).rejects.toThrow('is not the one that this database was sealed with');
    await check(ownKey);
  });

  // Requirements: settings-of-the-program-8
  test('is the same for instances that start concurrently on a new database', async () => {
    const keys = [ownKey, OTHER, ownKey, OTHER];
    const ends = await Promise.allSettled(keys.map((key) => check(key)));
    const accepted = new Set(keys.filter((_, index) => ends[index]?.status === 'fulfilled'));
    expect(accepted.size).toBe(1);
  });

  test('must open the webhooks of a database that has no key check yet', async () => {
    expect((await createHook()).statusCode).toBe(201);
    await expect(check(OTHER)).rejects.toThrow(StartError);
    expect(await board.database.db.select().from(secretKeyChecks)).toEqual([]);
    await check(ownKey);
    await expect(check(OTHER)).rejects.toThrow(StartError);
  });

  test('can be replaced on request, which is logged', async () => {
    await createHook();
    await check(ownKey);
    await check(OTHER, true);
    expect(warnings).toEqual(['what was sealed with the former SECRET_KEY cannot be read any more']);
    await check(OTHER);
    await expect(check(ownKey)).rejects.toThrow(StartError);
  });

  test('replaces a rotation that was not finished', async () => {
    await check(ownKey);
    await board.database.db.update(secretKeyChecks).set({ nextKeyCheck: keyCheckOf(OTHER) });
    await expect(check(ownKey)).rejects.toThrow('start with that key in SECRET_KEY_NEXT');
    await check(ownKey, true);
    await check(ownKey);
    await expect(check(OTHER)).rejects.toThrow('is not the one that this database was sealed with');
  });

  test('may be any key after a restore without the former key', async () => {
    await createHook();
    await check(ownKey);
    await forgetSecretKey(board.database.db);
    await check(OTHER);
    await expect(check(ownKey)).rejects.toThrow(StartError);
  });
});
