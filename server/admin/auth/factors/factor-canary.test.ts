import { Secret } from 'otpauth';
import { expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { enrolPasskey, enrolTotp, halfSignIn } from '#test/app/second-factors.ts';
import { cookieOf, testClient } from '#test/app/test-client.ts';
import { startWorld } from '#test/world.ts';

test('no secret, code, answer or token of a second factor is in a table or the log', async () => {
  const clock = fakeClock(new Date());
  const board = await startWorld({ clock });
  try {
    const user = await board.createUser();
    const app = await enrolTotp(user.client, clock);
    const passkey = await enrolPasskey(user.client);
    const half = await halfSignIn(board, user);
    const [recoveryCode = '', unused = ''] = app.recoveryCodes;
    await half.post('/api/auth/login/factor', { code: '000000' });
    await half.post('/api/auth/login/factor', { code: 'WRON-GCOD-EWRO-NGCO' });
    const entered = await half.post('/api/auth/login/factor', { code: recoveryCode });
    const session = testClient(board.app, cookieOf(entered));
    const options = (await session.post('/api/auth/step-up/options')).json();
    const assertion = passkey.use(options);
    await session.post('/api/auth/step-up', { assertion });
    const alone = passkey.use((await board.anonymous.post('/api/auth/login/passkey/options')).json());
    await board.anonymous.post('/api/auth/login/passkey', { assertion: alone });

    const secretBytes = Buffer.from(Secret.fromBase32(app.secret).bytes);
    const tokens = [half.cookie, session.cookie].map((cookie) => cookie.replace(/^[^=]*=/, ''));
    const secrets = [
      app.secret,
      secretBytes.toString('hex'),
      secretBytes.toString('base64'),
      ...[recoveryCode, unused].flatMap((code) => [code, code.replaceAll('-', '')]),
      'WRON-GCOD-EWRO-NGCO',
      ...tokens.flatMap((token) => [token, Buffer.from(token, 'base64url').toString('hex')]),
      ...[assertion, alone].map(({ response }) => response.signature ?? ''),
    ];
    for (const secret of secrets) expect(secret.length).toBeGreaterThan(10);

    const tables = await board.query(
      `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const rows = await Promise.all(
      tables.map(async ({ name }) =>
        JSON.stringify(await board.query(`select one::text from ${name} as one`)),
      ),
    );
    const stored = rows.join('\n');
    // The search finds what is there.
    expect(stored).toContain(passkey.id);
    expect(board.logged()).toContain('authenticator app added');
    for (const secret of secrets) {
      expect(stored.includes(secret), `in a table: ${secret}`).toBe(false);
      expect(board.logged().includes(secret), `in the log: ${secret}`).toBe(false);
    }
    const [row] = await board.query('select secret_sealed from totp_factors');
    const place = { purpose: 'totp', binding: user.user.id } as const;
    expect(board.deps.secretBox.open(row.secret_sealed, place)).toBe(app.secret);
    const elsewhere = { ...place, binding: 'another user' };
    expect(() => board.deps.secretBox.open(row.secret_sealed, elsewhere)).toThrow();
  } finally {
    await board.close();
  }
});
