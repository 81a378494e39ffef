import { Panel } from '../../ui/panel.tsx';
import classes from './price-logs-screen.module.css';

export function TimestampLegend() {
  return (
    <Panel title="About the timestamps">
      <dl className={classes.legend}>
        <dt>Original Time (TradingView)</dt>
        <dd>The candle's time as the charting platform sent it, unchanged.</dd>
        <dt>Candle Time (Server TZ)</dt>
        <dd>The same moment in the display time zone of this server.</dd>
        <dt>Received At (Server TZ)</dt>
        <dd>When the webhook call arrived. A delay of 15-30 minutes is expected for webhook calls.</dd>
      </dl>
    </Panel>
  );
}
