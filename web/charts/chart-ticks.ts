import { TickMarkType } from 'lightweight-charts';

/** The part of yyyy/MM/dd HH:mm:ss that a tick shows. */
export function tickText(instant: string, type: TickMarkType): string {
  const [date = '', time = ''] = instant.split(' ');
  const [year = '', month = '', day = ''] = date.split('/');
  switch (type) {
    case TickMarkType.Year:
      return year;
    case TickMarkType.Month:
    case TickMarkType.DayOfMonth:
      return `${month}/${day}`;
    default:
      return time.endsWith(':00') ? time.slice(0, 5) : time;
  }
}
