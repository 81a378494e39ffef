import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculated } from '#test/app/position-input.ts';
import { D, isMultipleOf } from '../decimal.ts';
import type { Position } from '../sizing/position.ts';
import {
  createEntryBook,
  type EntryFigures,
  exposureOf,
  isOfScope,
  riskOf,
  type ScopeLimits,
  type WantedEntry,
  type Watched,
} from './check-entry.ts';
import { fitPosition } from './fit-position.ts';
import { NO_LIMITS, type RiskLimits, type RiskScope } from './risk-limits.ts';

const NOW = new Date('2026-06-01T12:00:00Z');
const PROGRAM: RiskScope = { kind: 'program', value: '' };
const TESLA: RiskScope = { kind: 'strategy', value: 'tesla' };
const ADA: RiskScope = { kind: 'user', value: 'ada' };
const EMPTY: EntryFigures = { open: [], equities: [], counts: [] };
const WATCHED: Watched = { at: NOW, unknown: {} };

const entry = (of: Partial<WantedEntry> = {}): WantedEntry => ({
  userId: 'ada',
  processor: 'Tesla',
  token: 'BTC',
  side: 'buy',
  quantity: '10',
  entryPrice: '100',
  stopLoss: '98',
  equity: '1000',
  isFirst: true,
  ...of,
});
const held = (of: Partial<EntryFigures['open'][number]> = {}) => ({
  userId: 'ada',
  strategy: 'tesla',
  token: 'ETH',
  quantity: '10',
  price: '100',
  stopLoss: '98',
  side: 'buy' as const,
  ...of,
});

function judge(
  limits: Partial<RiskLimits>,
  {
    scope = ADA,
    figures = {},
    wanted = {},
    ...state
  }: {
    scope?: RiskScope;
    figures?: Partial<EntryFigures>;
    wanted?: Partial<WantedEntry>;
    breaches?: ScopeLimits['breaches'];
    watched?: Watched | null;
  } = {},
) {
  const one = { scope, limits: { ...NO_LIMITS, ...limits }, breaches: [], watched: WATCHED, ...state };
  const book = createEntryBook({ limits: [one], figures: { ...EMPTY, ...figures }, now: NOW });
  return book.judge(entry(wanted));
}

const reasonOf = (verdict: ReturnType<typeof judge>) =>
  verdict.ok === false ? verdict.denial.reason : verdict.ok === 'smaller' ? verdict.otherwise.reason : null;

// Requirements: additions-limits-2
describe('an entry', () => {
  it('is allowed without limits, and up to each limit', () => {
    expect(judge({})).toEqual({ ok: true });
    expect(
      judge({ maxOpenPositions: 1, maxExposure: '1000', maxRisk: '2%', maxEntriesPerMinute: 1 }),
    ).toEqual({ ok: true });
  });

  it.each<[Partial<RiskLimits>, string]>([
    [
      { maxOpenPositions: 1 },
      'With this entry the number of open positions and working entries of this user would be 2, the limit is 1; allowed: none',
    ],
    [
      { maxExposure: '1500' },
      'With this entry the exposure of this user would be 2000 USDT, the limit is 1500 USDT; allowed: 500 USDT more',
    ],
    [
      { maxExposure: '1.5x' },
      'With this entry the exposure of this user would be 2000 USDT, the limit is 1.5x of 1000 USDT; allowed: 500 USDT more',
    ],
    [
      { maxRisk: '3%' },
      'With this entry the loss at all stops of this user would be 40 USDT, the limit is 3% of 1000 USDT; allowed: 10 USDT more',
    ],
    [
      { maxEntriesPerMinute: 1 },
      'With this entry the number of entries in the last minute of this user would be 2, the limit is 1; allowed: none before a minute has passed since the first of them',
    ],
    [{ allowedTokens: ['ETH'] }, 'The limits of this user do not allow BTC: allowed are ETH'],
    [{ blockedTokens: ['BTC'] }, 'The limits of this user do not allow BTC: blocked are BTC'],
  ])('beside a position is denied by %j, with what it saw and what is allowed', (limits, reason) => {
    const figures = { open: [held()], counts: [{ userId: 'ada', strategy: 'tesla', entries: 1 }] };
    expect(reasonOf(judge(limits, { figures }))).toBe(reason);
  });

  it('counts what others hold for the program and the strategy, and not for the user', () => {
    const open = [held({ userId: 'bob' }), held({ userId: 'eve', strategy: 'ud bot' })];
    const of = (scope: RiskScope) => judge({ maxOpenPositions: 1 }, { scope, figures: { open } });
    expect(reasonOf(of(PROGRAM))).toMatch(/of the program would be 3, the limit is 1/);
    expect(reasonOf(of(TESLA))).toMatch(/of strategy Tesla would be 2, the limit is 1/);
    expect(of(ADA)).toEqual({ ok: true });
  });

  it('is compared with the summed equity of those who trade in the scope', () => {
    const equities = [
      { userId: 'bob', equity: '500', follows: 'tesla' },
      { userId: 'eve', equity: '300', follows: 'ud bot' },
      { userId: 'kim', equity: '200', follows: 'any' },
    ];
    const of = (scope: RiskScope) =>
      reasonOf(judge({ maxExposure: '0.1x' }, { scope, figures: { equities } }));
    expect(of(PROGRAM)).toMatch(/0.1x of 2000 USDT/);
    expect(of(TESLA)).toMatch(/0.1x of 1700 USDT/);
    expect(of(ADA)).toMatch(/0.1x of 1000 USDT/);
  });

  it.each([PROGRAM, TESLA, ADA])('of a user whose equity is not known is denied by a share: %j', (scope) => {
    const equities = [{ userId: 'bob', equity: '1000000', follows: 'any' }];
    const of = (wanted: Partial<WantedEntry>) =>
      judge({ maxExposure: '1x' }, { scope, figures: { equities }, wanted });
    expect(reasonOf(of({ equity: null }))).toMatch(
      /^The exposure of .* cannot be checked: the equity of this user is not known$/,
    );
    expect(of({ userId: 'bob', equity: null }).ok).toBe(true);
  });

  it('is stopped while a breach lasts, second attempts included', () => {
    const breach = {
      limit: 'maxDailyLoss',
      saw: '310 USDT',
      maximum: '300 USDT',
      until: new Date('2026-06-02T00:00:00Z'),
    };
    const stopped =
      'The daily loss of this user is 310 USDT, the limit is 300 USDT: new entries are stopped until 2026-06-02T00:00:00.000Z';
    expect(reasonOf(judge({}, { breaches: [breach] }))).toBe(stopped);
    expect(reasonOf(judge({}, { breaches: [breach], wanted: { isFirst: false } }))).toBe(stopped);
    expect(judge({}, { breaches: [{ ...breach, until: NOW }] })).toEqual({ ok: true });
    expect(reasonOf(judge({}, { breaches: [{ ...breach, until: null }] }))).toMatch(
      /until an administrator resets it$/,
    );
  });

  it('is denied while what stops entries is not known, and only to the user of whom it is not known', () => {
    const limits = { maxDailyLoss: '300' };
    const late = { at: new Date(NOW.getTime() - 61_000), unknown: {} };
    expect(reasonOf(judge(limits, { watched: null }))).toBe(
      'The daily loss of this user cannot be checked: it was not compared yet',
    );
    expect(reasonOf(judge(limits, { watched: late }))).toMatch(/it was last compared 61 s ago$/);
    expect(judge(limits, { scope: PROGRAM, watched: late })).toEqual({ ok: true });
    const unknown = { at: NOW, unknown: { ada: 'Bitget did not answer' } };
    for (const scope of [PROGRAM, TESLA, ADA]) {
      expect(reasonOf(judge(limits, { scope, watched: unknown }))).toMatch(/Bitget did not answer$/);
      expect(judge(limits, { scope, watched: unknown, wanted: { userId: 'bob' } })).toEqual({ ok: true });
    }
    expect(judge({}, { watched: null })).toEqual({ ok: true });
  });

  it('in a token is not counted beside the position of that user that it replaces', () => {
    const figures = { open: [held({ token: 'BTC' })] };
    expect(judge({ maxOpenPositions: 1 }, { figures })).toEqual({ ok: true });
    const other = judge({ maxOpenPositions: 1 }, { scope: PROGRAM, figures, wanted: { userId: 'bob' } });
    expect(other.ok).toBe(false);
  });

  it('made smaller for one limit is judged again by those that do not shrink', () => {
    const shrinking = { scope: PROGRAM, limits: { ...NO_LIMITS, maxExposure: '500', shrink: true } };
    const fixed = { scope: ADA, limits: { ...NO_LIMITS, maxExposure: '600' } };
    const limits = [fixed, shrinking].map((one) => ({ ...one, breaches: [], watched: null }));
    const book = createEntryBook({ limits, figures: EMPTY, now: NOW });
    expect(book.judge(entry())).toMatchObject({ ok: 'smaller', room: { notional: '500', loss: null } });
    expect(book.judge(entry({ quantity: '5' }))).toEqual({ ok: true });
  });
});

it('a stop that is beyond the price loses nothing', () => {
  const position = { quantity: '2', price: '110', stopLoss: '98' };
  expect(riskOf({ ...position, side: 'buy' }).toFixed()).toBe('24');
  expect(riskOf({ ...position, side: 'sell' }).toFixed()).toBe('0');
});

// Requirements: additions-limits-3
describe('many entries, one after the other', () => {
  const users = ['ada', 'bob', 'eve'];
  const strategies = ['Tesla', 'UD Bot'];
  const position = calculated();
  const amount = fc.integer({ min: 1, max: 400_000 }).map((cents) => D(cents).div(100).toFixed());
  const limits = fc.record({
    maxOpenPositions: fc.option(fc.nat(8)),
    maxExposure: fc.option(
      fc.oneof(
        amount,
        amount.map((one) => `${D(one).div(1_000).toFixed()}x`).filter((one) => one !== '0x'),
      ),
    ),
    maxRisk: fc.option(fc.integer({ min: 1, max: 500 }).map((tenths) => `${tenths / 10}%`)),
    maxEntriesPerMinute: fc.option(fc.nat(8)),
    shrink: fc.boolean(),
  });
  const scopes: RiskScope[] = [PROGRAM, TESLA, ADA];

  it('never exceed a limit, and are only made smaller by less than a step below the room', () => {
    fc.assert(
      fc.property(
        fc.tuple(limits, limits, limits),
        fc.array(
          fc.record({
            userId: fc.constantFrom(...users),
            processor: fc.constantFrom(...strategies),
            multiple: fc.integer({ min: 1, max: 60 }),
          }),
          { minLength: 1, maxLength: 30 },
        ),
        (ofScopes, wanted) => {
          const all: ScopeLimits[] = ofScopes.map((one, index) => ({
            scope: scopes[index] ?? PROGRAM,
            limits: { ...NO_LIMITS, ...one },
            breaches: [],
            watched: null,
          }));
          const equities = users.map((userId) => ({ userId, equity: '1000', follows: 'tesla' }));
          const book = createEntryBook({ limits: all, figures: { ...EMPTY, equities }, now: NOW });
          const taken: (WantedEntry & { strategy: string; price: string })[] = [];
          for (const [index, { userId, processor, multiple }] of wanted.entries()) {
            const planned = sized(position, multiple);
            const by = { userId, processor, token: `T${index}` };
            const first = toEntry(planned, by);
            const verdict = book.judge(first);
            const fitted = verdict.ok === 'smaller' ? fitPosition(planned, verdict.room) : null;
            if (fitted !== null && verdict.ok === 'smaller') expectTight(fitted, verdict.room);
            const final = verdict.ok === true ? first : fitted && toEntry(fitted, by);
            if (final === null || book.judge(final).ok !== true) continue;
            book.add(final);
            taken.push({ ...final, strategy: processor.toLowerCase(), price: final.entryPrice });
          }
          for (const { scope, limits: own } of all) {
            const inScope = taken.filter((one) => isOfScope(scope, one));
            const equity = D(1000).times(scope.kind === 'user' ? 1 : 3);
            const sum = (amounts: ReturnType<typeof D>[]) =>
              amounts.reduce((total, one) => total.plus(one), D(0));
            if (own.maxOpenPositions !== null)
              expect(inScope.length).toBeLessThanOrEqual(own.maxOpenPositions);
            if (own.maxEntriesPerMinute !== null) {
              expect(inScope.length).toBeLessThanOrEqual(own.maxEntriesPerMinute);
            }
            if (own.maxRisk !== null) {
              const maximum = equity.times(own.maxRisk.slice(0, -1)).div(100);
              expect(sum(inScope.map(riskOf)).lte(maximum)).toBe(true);
            }
            if (own.maxExposure !== null) {
              const maximum = own.maxExposure.endsWith('x')
                ? equity.times(own.maxExposure.slice(0, -1))
                : D(own.maxExposure);
              expect(sum(inScope.map(exposureOf)).lte(maximum)).toBe(true);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  /** One step more would not fit. */
  function expectTight(fitted: Position, room: { notional: string | null; loss: string | null }) {
    const { rules, entryPrice, stopLoss } = fitted;
    expect(isMultipleOf(fitted.assetQuantity, rules.quantityStep)).toBe(true);
    const more = D(fitted.assetQuantity).plus(rules.quantityStep);
    const beyondNotional = room.notional !== null && more.times(entryPrice).gt(room.notional);
    const beyondLoss = room.loss !== null && more.times(D(entryPrice).minus(stopLoss).abs()).gt(room.loss);
    expect(beyondNotional || beyondLoss).toBe(true);
    expect(fitted.calculationReason).toMatch(/; sized down from .* USDT of .*\.$/);
  }

  const sized = (of: Position, multiple: number): Position => ({
    ...of,
    assetQuantity: D(of.rules.minimumQuantity).times(multiple).toFixed(),
  });

  const toEntry = (of: Position, by: Pick<WantedEntry, 'userId' | 'processor' | 'token'>): WantedEntry =>
    entry({
      ...by,
      side: of.action,
      quantity: of.assetQuantity,
      entryPrice: of.entryPrice,
      stopLoss: of.stopLoss,
    });
});
