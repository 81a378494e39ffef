import { describe, expect, test } from 'vitest';
import { calendarWeeks, netPicture } from './chart-models.ts';
import { daysOf, resultQuery } from './performance-range.ts';

const day = (date: string, net: string) => ({ day: date, net, trades: 1, unknown: 0 });
const AT = { now: new Date('2026-11-24T05:00:00Z'), timeZone: 'America/Los_Angeles' };

test('adds up the net day by day and shows how far it is below its highest value', () => {
  const days = [day('2026-11-02', '100'), day('2026-11-04', '-30')];
  expect(netPicture(days, { first: '2026-11-01', last: '2026-11-05' })).toEqual([
    { day: '2026-11-01', total: 0, fall: 0 },
    { day: '2026-11-02', total: 100, fall: 0 },
    { day: '2026-11-03', total: 100, fall: 0 },
    { day: '2026-11-04', total: 70, fall: 30 },
    { day: '2026-11-05', total: 70, fall: 30 },
  ]);
});

describe('the weeks of the calendar', () => {
  test('go from Sunday to Saturday, with days outside the range marked', () => {
    const weeks = calendarWeeks([day('2026-11-04', '-164.4')], {
      first: '2026-11-03',
      last: '2026-11-09',
      most: 6,
    });
    expect(weeks.map((week) => [week[0]?.day, week.filter(({ isInRange }) => isInRange).length])).toEqual([
      ['2026-11-01', 5],
      ['2026-11-08', 2],
    ]);
    expect(weeks[0]?.[3]).toMatchObject({ day: '2026-11-04', net: '−164', step: -3 });
    expect(weeks[0]?.[4]).toMatchObject({ net: '0', step: 0 });
  });

  test('are at most the last six', () => {
    const weeks = calendarWeeks([], { first: '2025-01-01', last: '2026-11-09', most: 6 });
    expect([weeks.length, weeks[0]?.[0]?.day]).toEqual([6, '2026-10-04']);
  });
});

describe('the range', () => {
  test('is the last 30 days of the display zone without a choice', () => {
    expect(daysOf({}, AT)).toEqual({ first: '2026-10-25', last: undefined });
    expect(resultQuery({}, AT)).toMatchObject({ from: '2026-10-25T07:00:00.000Z', to: undefined });
  });

  test('of chosen days includes both, also across the change of the clock', () => {
    expect(resultQuery({ fromDay: '2026-10-31', toDay: '2026-11-01', range: '7d' }, AT)).toMatchObject({
      from: '2026-10-31T07:00:00.000Z',
      to: '2026-11-02T08:00:00.000Z',
    });
  });

  test('of all time is open', () => {
    expect(resultQuery({ range: 'all', token: 'BTC' }, AT)).toMatchObject({
      from: undefined,
      to: undefined,
      token: 'BTC',
    });
  });
});
