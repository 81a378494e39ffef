import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import * as paperSchema from '#server/exchanges/paper/paper-schema.ts';
import { systemClock } from '#server/platform/clock.ts';
import * as schema from '#server/platform/db/schema.ts';
import { enrolTotp } from '#test/app/second-factors.ts';
import { startWorld } from '#test/world.ts';
import { SEALED_KINDS } from './sealed-kinds.ts';

/** Hashes and checks that do not depend on SECRET_KEY, or that the rotation writes by itself. */
const NOT_RE_SEALED: Record<string, string> = {
  'users.password_hash': 'argon2',
  'sessions.token_hash': 'SHA-256',
  'half_sign_ins.token_hash': 'SHA-256',
  'api_tokens.token_hash': 'SHA-256',
  'recovery_codes.code_hash': 'SHA-256',
  'audit_log.row_mac': 'under the key of the audit trail',
  'audit_log.chain_hash': 'under the key of the audit trail',
  'signals.hash_value': 'SHA-256',
  'signal_hashes.hash_value': 'SHA-256',
  'price_logs.hash_value': 'SHA-256',
  'price_log_hashes.hash_value': 'SHA-256',
  'exchange_preparations.key_hash': 'SHA-256 of an API key',
  'secret_key_checks.key_check': 'becomes that of the next key at the end',
  'secret_key_checks.next_key_check': 'says that a rotation has begun',
  'instances.key_check': 'reported by each instance',
  'instances.next_key_check': 'reported by each instance',
};

const rotated = new Set(
  Object.values(SEALED_KINDS).flatMap(({ columns }) =>
    columns.map((column) => `${getTableName(column.table)}.${column.name}`),
  ),
);

test('every column that may hold something sealed or hashed is re-sealed, or has a reason why not', () => {
  const columns = Object.values({ ...schema, ...paperSchema })
    .filter((table) => is(table, PgTable))
    .flatMap((table) =>
      Object.values(getTableColumns(table)).map(({ name }) => `${getTableName(table)}.${name}`),
    );
  const found = columns.filter((column) => /\..*(seal|hash|mac|check|cipher|encrypt)/.test(column));
  const known = [...rotated, ...Object.keys(NOT_RE_SEALED), 'instances.seals_under_next'];
  expect(found.toSorted()).toEqual(known.toSorted());
});

test('every column in which the program stores sealed text is re-sealed', async () => {
  const board = await startWorld();
  try {
    const { client } = await board.createUser();
    await client.post('/api/hooks', {});
    await client.put('/api/user-settings/exchange-credentials', {
      exchangePlatform: 'Bitget',
      apiKey: 'the-api-key',
      apiSecret: 'the-secret',
      passphrase: 'the-passphrase',
    });
    await enrolTotp(client, systemClock);
    const config = { url: 'https://example.com/hook' };
    await client.post('/api/notification-channels', { kind: 'webhook', name: 'Mine', config });
    const columns = await board.query(
      `select format('%I.%I', table_name, column_name) as name, format('select from %I where %I::text ~ %L limit 1',
         table_name, column_name, '(^|[^[:alnum:]])v1[.][[:alnum:]_-]{38,}') as statement
       from information_schema.columns where table_schema = 'public'`,
    );
    const found: string[] = [];
    for (const { name, statement } of columns) {
      if ((await board.query(statement)).length > 0) found.push(name);
    }
    const texts = Object.values(SEALED_KINDS).flatMap(({ columns: [first] }) =>
      first?.dataType === 'string' ? `${getTableName(first.table)}.${first.name}` : [],
    );
    expect(found.toSorted()).toEqual(texts.toSorted());
  } finally {
    await board.close();
  }
});
