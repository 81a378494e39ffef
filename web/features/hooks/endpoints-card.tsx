import { CopyButton } from '../../ui/icon-button.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Section } from '../../ui/section.tsx';
import { SIGNAL_EXAMPLE } from './test-delivery.ts';
import classes from './webhook-screen.module.css';

const CANDLE_EXAMPLE = {
  Timeframe: '15',
  Symbol: 'BTC',
  Currency: 'USDT',
  DateTime: '202611211430',
  High: '97210.50',
  Low: '96950.10',
  Open: '97001.20',
  Close: '97098.87',
  Volume: '182.4',
  RSI: '58.2',
  MACD: '12.7',
};

const STEPS = [
  'Copy the webhook URL',
  'Create or edit an alert in TradingView',
  "Set 'Webhook URL' to the copied URL",
  'Configure the alert message with the required fields',
  'Save the alert; data then appears in the dashboard',
];

export function EndpointsCard() {
  return (
    <Panel title="API Endpoints">
      <div className={classes.endpoints}>
        <Endpoint name="Signal" path="/hooks/trading_view_signal?hkid={hook_id}" example={SIGNAL_EXAMPLE} />
        <Endpoint
          name="Price data"
          path="/hooks/trading_view_candler?hkid={hook_id}"
          example={CANDLE_EXAMPLE}
        />
        <Section title="Setup">
          <ol className={classes.steps}>
            {STEPS.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
        </Section>
        <AlertTemplates />
        <Notice look="warning" title="Security Notice">
          Both endpoints share the same key. Keep it private: anyone holding it can send data to the
          dashboard.
        </Notice>
      </div>
    </Panel>
  );
}

function Endpoint({ name, path, example }: { name: string; path: string; example: object }) {
  return (
    <Section title={name}>
      <p className={classes.path}>
        <span className={classes.method}>POST</span> <code>{path}</code>
      </p>
      <JsonView value={example} label={`${name} example payload`} />
    </Section>
  );
}

const signal = (action: string) => ({
  symbol: '{{ticker}}',
  action,
  price: '{{close}}',
  timeframe: '{{interval}}',
  processor: 'Tesla',
  time: '{{timenow}}',
});

const CANDLE = {
  Symbol: '{{ticker}}',
  Timeframe: '{{interval}}',
  DateTime: '{{time}}',
  Open: '{{open}}',
  High: '{{high}}',
  Low: '{{low}}',
  Close: '{{close}}',
  Volume: '{{volume}}',
};

/**
 * Alert messages in TradingView's format. Plots are referenced by number: the quotes of {{plot("ATR")}} would be
 * invalid JSON until TradingView substitutes them.
 */
const ALERT_TEMPLATES = [
  { name: 'Buy signal message', use: 'For an alert that means buy', message: signal('buy') },
  { name: 'Sell signal message', use: 'For an alert that means sell', message: signal('sell') },
  {
    name: 'Strategy signal message',
    use: 'For a strategy: its orders say buy or sell, its position whether they enter, reduce or close',
    message: {
      ...signal('{{strategy.order.action}}'),
      prev_market_position: '{{strategy.prev_market_position}}',
      market_position: '{{strategy.market_position}}',
      prev_market_position_size: '{{strategy.prev_market_position_size}}',
      market_position_size: '{{strategy.market_position_size}}',
    },
  },
  { name: 'Close signal message', use: 'Closes what this processor opened', message: signal('close') },
  {
    name: 'Reduce signal message',
    use: 'Closes a part of what this processor opened, from 1 to 99 percent',
    message: { ...signal('reduce'), reduce_percent: 50 },
  },
  { name: 'Candle message', use: 'For any chart', message: CANDLE },
  {
    name: 'Candle message with ATR and trends',
    use: 'For an indicator with these three plots',
    message: { ...CANDLE, ATR: '{{plot_0}}', immediate_trend: '{{plot_1}}', mature_trend: '{{plot_2}}' },
  },
];

function AlertTemplates() {
  return (
    <Section title="Alert Messages">
      <p className={classes.note}>
        Ready for TradingView, which fills in the placeholders. Signal messages belong to the Signal Webhook
        URL, candle messages to the Price Data Webhook URL, best with the trigger Once Per Bar Close.
      </p>
      <ul className={classes.templates}>
        {ALERT_TEMPLATES.map(({ name, use, message }) => (
          <li key={name} className={classes.template}>
            <details>
              <summary>
                <span className={classes.templateName}>{name}</span>
                <span className={classes.templateUse}>{use}</span>
              </summary>
              <JsonView value={message} label={name} />
            </details>
            <CopyButton
              value={JSON.stringify(message, null, 2)}
              label={`Copy ${name}`}
              done={{ title: 'Copied', message: `${name} copied to clipboard` }}
            />
          </li>
        ))}
      </ul>
      <p className={classes.note}>
        ATR and trends come from the plots of the indicator that the alert is set on:{' '}
        <code>{'{{plot_0}}'}</code> is its first plot, and <code>{'{{plot("ATR")}}'}</code> the one of that
        title, written with these quotes and without backslashes. A trend plot draws 1 for up, -1 for down and
        0 for none. Without an ATR, users who size by Technical Analysis are not traded.
      </p>
    </Section>
  );
}
