import { Alert } from '@mantine/core';
import { IconShieldLock } from '@tabler/icons-react';
import { JsonView } from '../../ui/json-view.tsx';
import { Panel } from '../../ui/panel.tsx';
import { AlertTemplates } from './alert-templates-section.tsx';
import classes from './webhook-screen.module.css';

const SIGNAL_EXAMPLE = {
  symbol: 'BTCUSDT',
  action: 'buy',
  price: '97098.87',
  timeframe: '15',
  processor: 'Tesla',
};

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
        <div>
          <h3>Setup</h3>
          <ol className={classes.steps}>
            {STEPS.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
        </div>
        <AlertTemplates />
        <Alert color="yellow" title="Security Notice" icon={<IconShieldLock aria-hidden />}>
          Both endpoints share the same key. Keep it private: anyone holding it can send data to the
          dashboard.
        </Alert>
      </div>
    </Panel>
  );
}

function Endpoint({ name, path, example }: { name: string; path: string; example: object }) {
  return (
    <div>
      <h3>{name}</h3>
      <p className={classes.path}>
        <span className={classes.method}>POST</span> <code>{path}</code>
      </p>
      <JsonView value={example} label={`${name} example payload`} />
    </div>
  );
}
