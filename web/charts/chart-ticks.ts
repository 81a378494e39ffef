import { TickMarkType } from 'lightweight-charts';

/** From yyyy/MM/dd HH:mm:ss what the tick is about. */
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
