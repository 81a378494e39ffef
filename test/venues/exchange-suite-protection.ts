import { beforeEach, describe, expect, test } from 'vitest';
import type { ExchangeAccount, Protection, ProtectionRequest } from '#server/exchanges/exchange.ts';
import { firstCases, type TestsInTurn } from '#test/app/in-turn.ts';
import { SUITE_WORDS, type SuiteDialect } from './exchange-suite-words.ts';
import type { FaultMatch, VenueFault } from './faults.ts';
import {
  buy,
  type ExchangeUnderTest,
  inTime,
  newId,
  recording,
  type WiredExchange,
} from './test-registry.ts';

/* Moving the stop and the target of an open position. */

const LONG = { token: 'BTC', side: 'long', quantity: '0.01' } as const;

const move = (changes: Partial<ProtectionRequest>): ProtectionRequest => ({
  ...LONG,
  stopLoss: null,
  takeProfit: null,
  clientOrderId: newId(),
  ...changes,
});

/** What every exchange must do. */
export function protectionMoveTests(
  platform: SuiteDialect,
  suite: { under: ExchangeUnderTest; account: ExchangeAccount },
  alike: TestsInTurn,
): void {
  describe('moving a stop or target', () => {
    let under: ExchangeUnderTest;
    let account: ExchangeAccount;
    beforeEach(async () => {
      ({ under, account } = suite);
      // A stop at 63,000 and a target at 69,000.1.
      await under.exchange.placeOrder(account, buy(), inTime());
    });

    const moveTo = (changes: Partial<ProtectionRequest>, context = inTime()) =>
      under.exchange.moveProtection(account, move(changes), context);
    const held = () => under.exchange.fetchProtection(account, 'BTC');

    alike.each<[string, Partial<ProtectionRequest>, Protection]>([
      ['the stop', { stopLoss: '64000' }, { stopLoss: '64000', takeProfit: '69000.1' }],
      ['the stop away from the price', { stopLoss: '61000' }, { stopLoss: '61000', takeProfit: '69000.1' }],
      ['the target', { takeProfit: '70000' }, { stopLoss: '63000', takeProfit: '70000' }],
      ['both', { stopLoss: '64000', takeProfit: '70000' }, { stopLoss: '64000', takeProfit: '70000' }],
    ])('moves %s and nothing else', async (_name, changes, expected) => {
      await moveTo(changes);
      expect(await held()).toEqual(expected);
      expect(await under.exchange.fetchHoldings(account)).toMatchObject({
        holdings: [{ protection: expected }],
      });
    });

    alike('moves it any number of times, and only the last stop closes the position', async () => {
      for (const stopLoss of ['62000', '64000', '61000', '62500']) await moveTo({ stopLoss });
      expect(await held()).toEqual({ stopLoss: '62500', takeProfit: '69000.1' });
      under.push('BTC', '62600');
      expect(await under.exchange.fetchPosition(account, 'BTC')).toMatchObject({ quantity: '0.01' });
      under.push('BTC', '62400');
      expect(await under.exchange.fetchPosition(account, 'BTC')).toBeNull();
      const [closed] = await under.exchange.fetchClosedPositions(account, {
        since: new Date(Date.now() - 3_600_000),
      });
      if (closed === undefined) throw new Error('no closed position');
      const order = await under.exchange.findClosingOrder(account, closed);
      expect(order).toMatchObject({ source: 'stop loss' });
    });

    alike('changes nothing when the same call comes again', async () => {
      const request = move({ stopLoss: '64000', takeProfit: '70000' });
      for (let time = 0; time < 3; time += 1) await under.exchange.moveProtection(account, request, inTime());
      expect(await held()).toEqual({ stopLoss: '64000', takeProfit: '70000' });
    });

    test('places the stop that the exchange lost', async () => {
      await under.loseStop(account, 'BTC');
      await moveTo({ stopLoss: '64000' });
      expect(await held()).toEqual({ stopLoss: '64000', takeProfit: '69000.1' });
    });

    test('refuses a stop that the mark has crossed, and the old one stays', async () => {
      await expect(moveTo({ stopLoss: '65500' })).rejects.toMatchObject({
        kind: 'refused',
        code: SUITE_WORDS[platform].codes.stopOnWrongSide,
      });
      expect(await held()).toEqual({ stopLoss: '63000', takeProfit: '69000.1' });
    });

    alike('sends nothing between ticks, or after the last permitted instant', async () => {
      await expect(moveTo({ stopLoss: '64000.05' })).rejects.toMatchObject({ code: 'not-sent' });
      const late = { notAfter: new Date(Date.now() - 1) };
      await expect(moveTo({ stopLoss: '64000' }, late)).rejects.toMatchObject({ kind: 'refused' });
      expect(await held()).toEqual({ stopLoss: '63000', takeProfit: '69000.1' });
    });

    test('moves the stop of a short, and of a position without the other one', async () => {
      const short = under.newAccount();
      await under.exchange.prepareAccount(short, { token: 'BTC', leverage: 10 });
      const order = buy({ side: 'sell', price: '64990', stopLoss: '66000', takeProfit: '62000' });
      await under.exchange.placeOrder(short, order, inTime());
      const request = move({ side: 'short', stopLoss: '65500', takeProfit: '61000' });
      await under.exchange.moveProtection(short, request, inTime());
      expect(await under.exchange.fetchProtection(short, 'BTC')).toEqual({
        stopLoss: '65500',
        takeProfit: '61000',
      });
    });
  });
}

/** What the real clients must do when requests fail. */
export function wiredMoveTests(
  platform: SuiteDialect,
  suite: { under: WiredExchange; account: ExchangeAccount },
): void {
  const OLD = { stopLoss: '63000', takeProfit: '69000.1' };
  const MOVED = { ...OLD, stopLoss: '64000' };

  describe('moving a stop when requests fail', () => {
    let under: WiredExchange;
    let account: ExchangeAccount;
    beforeEach(async () => {
      ({ under, account } = suite);
      await under.exchange.placeOrder(account, buy(), inTime());
    });

    const held = () => under.exchange.fetchProtection(account, 'BTC');

    /** One call that meets the fault, then a look at the stop, then the same call without it. */
    async function moveTwice(fault: VenueFault) {
      const request = move({ stopLoss: '64000' });
      under.setFaults([fault]);
      const failure = await under.hastyExchange.moveProtection(account, request, inTime()).then(
        () => null,
        (error: unknown) => error,
      );
      under.setFaults([]);
      const between = await held();
      await under.exchange.moveProtection(account, request, inTime());
      return { failure, between };
    }

    const PLACING: FaultMatch = { operation: 'place-protection' };

    test.each<[string, VenueFault]>(
      firstCases(
        [
          ['refused', { kind: 'stopRefused' }],
          ['answered with a 502', { kind: 'badGatewayBefore', on: PLACING }],
          ['answered with success, but changes nothing', { kind: 'stopIgnored' }],
          ['not answered', { kind: 'timeout', on: PLACING }],
        ],
        platform === 'Bitget' ? 4 : 3,
      ),
    )('leaves the old one when the new one is %s, and moves it the next time', async (_name, fault) => {
      const { failure, between } = await moveTwice(fault);
      expect(failure).toMatchObject({ name: 'ExchangeError' });
      expect(between).toEqual(OLD);
      expect(await held()).toEqual(MOVED);
    });

    const lost: VenueFault['kind'][] = ['cutAfterAccept', 'truncatedBody', 'html200', 'acceptThenTimeout'];
    test.each(firstCases(lost, platform === 'Bitget' ? 4 : 3))(
      'finds the new one when its answer is lost (%s), and does not place it again',
      async (kind) => {
        const { failure, between } = await moveTwice({ kind, on: PLACING } as VenueFault);
        expect(failure).toMatchObject({ name: 'ExchangeError', kind: 'unknown' });
        expect(between.stopLoss).not.toBeNull();
        expect(await held()).toEqual(MOVED);
        under.push('BTC', '63900');
        expect(await under.exchange.fetchPosition(account, 'BTC')).toBeNull();
      },
    );

    test('refuses the target, and the moved stop stays', async () => {
      under.setFaults([{ kind: 'stopRefused', on: { nth: 2 } }]);
      const request = move({ stopLoss: '64000', takeProfit: '70000' });
      await expect(under.exchange.moveProtection(account, request, inTime())).rejects.toMatchObject({
        kind: 'refused',
      });
      expect(await held()).toEqual(MOVED);
    });

    // Only where stops are orders of their own.
    if (platform === 'Bitget') {
      test('places and sees the new stop before it cancels the old one, and sees it gone', async () => {
        const { calls, context } = recording();
        await under.exchange.moveProtection(account, move({ stopLoss: '64000' }), context);
        expect(calls.map(({ type }) => type)).toEqual([
          'protection',
          'place-stop-loss',
          'protection',
          'cancel-protection',
          'protection',
        ]);
      });

      const unanswered: VenueFault['kind'][] = [
        'badGatewayBefore',
        'html200',
        'timeout',
        'acceptThenTimeout',
      ];
      test.each(firstCases(unanswered, 2))(
        'reports an old stop whose cancel is lost (%s), and cancels it the next time',
        async (kind) => {
          const fault = { kind, on: { operation: 'cancel-protection' } } as VenueFault;
          const { failure, between } = await moveTwice(fault);
          expect(failure).toMatchObject({ kind: 'unknown' });
          expect(between.stopLoss).not.toBeNull();
          expect(await held()).toEqual(MOVED);
          expect(await under.exchange.cancelProtection(account, 'BTC')).toBe(2);
        },
      );

      test('with the old stop still there, the one that comes first closes the position', async () => {
        under.setFaults([{ kind: 'timeout', on: { operation: 'cancel-protection' } }]);
        const moving = under.hastyExchange.moveProtection(account, move({ stopLoss: '61000' }), inTime());
        await expect(moving).rejects.toMatchObject({ kind: 'unknown' });
        expect((await held()).stopLoss).toBe('63000');
        under.push('BTC', '62900');
        expect(await under.exchange.fetchPosition(account, 'BTC')).toBeNull();
      });

      test('never cancels the old stop on a list that cannot be read', async () => {
        under.setFaults([{ kind: 'html200', on: { path: 'orders-plan-pending', nth: 2 } }]);
        const moving = under.exchange.moveProtection(account, move({ stopLoss: '64000' }), inTime());
        await expect(moving).rejects.toMatchObject({ kind: 'unknown' });
        expect(await under.exchange.cancelProtection(account, 'BTC')).toBe(3);
      });
    }
  });
}
