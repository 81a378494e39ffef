import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { paperAccounts } from '#server/exchanges/paper/paper-schema.ts';
import { bitgetTrader, bybitTrader } from '#test/app/test-trader.ts';
import { paperLedger } from '#test/venues/paper-ledger.ts';
import { SECRET_KEY, venueUnderTest } from './venue-under-test.ts';

const under = venueUnderTest();

test('a user trades on both platforms with separate books', async () => {
  const { db, clock, marks, venue, userId } = under;
  const options = { venue, userId, secretKey: SECRET_KEY, now: () => clock.now() };
  const [bitget, bybit] = [bitgetTrader(options), bybitTrader(options)];
  await Promise.all([bitget.prepare(), bybit.prepare()]);
  const ledger = paperLedger(db);
  const sizeOn = async (platform: ExchangePlatform) => {
    const { position } = await ledger.holding(userId, 'BTC', platform);
    return position ? D(position.size).toFixed() : null;
  };
  const balanceOn = async (platform: ExchangePlatform) => {
    const accounts = await db.select().from(paperAccounts).where(eq(paperAccounts.userId, userId));
    return D(accounts.find((account) => account.platform === platform)?.balance ?? 0).toFixed();
  };

  // One id may rest on both platforms, but is refused the second time on one.
  for (const trader of [bitget, bybit]) {
    expect((await trader.enter({ id: 'twin', price: '64000' })).ok).toBe(true);
    expect((await trader.enter({ id: 'twin', price: '64000' })).ok).toBe(false);
  }
  await bybit.cancel('twin');
  expect((await bitget.find('twin')).data).toMatchObject({ state: 'live' });

  await bybit.enter({ id: 'bybit', size: '0.02' });
  expect([await sizeOn('Bitget'), await sizeOn('Bybit')]).toEqual([null, '0.02']);
  // A new price affects both.
  marks.push('BTC', '64000');
  await venue.settle('BTC');
  expect([await sizeOn('Bitget'), await sizeOn('Bybit')]).toEqual(['0.01', '0.02']);
  // 640 of value at 0.02 %, and 1,300 at 0.06 %.
  expect([await balanceOn('Bitget'), await balanceOn('Bybit')]).toEqual(['9999.872', '9999.22']);

  await bybit.close('0.02');
  expect([await sizeOn('Bitget'), await sizeOn('Bybit')]).toEqual(['0.01', null]);
  expect(await ledger.holding(userId, 'BTC', 'Bitget')).toMatchObject({ stopLoss: '63000' });
  expect(await ledger.holding(userId, 'BTC', 'Bybit')).toMatchObject({ stopLoss: null });
});
