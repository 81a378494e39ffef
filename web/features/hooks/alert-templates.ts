export interface AlertTemplate {
  /** Also how its copy button and its toast name it. */
  name: string;
  use: string;
  message: Readonly<Record<string, string>>;
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
 * Alert messages as TradingView takes them. Plots are named by their number: the quotes of {{plot("ATR")}} would
 * make a message that is no JSON for as long as it is not filled in.
 */
export const ALERT_TEMPLATES: readonly AlertTemplate[] = [
  { name: 'Buy signal message', use: 'For an alert that means buy', message: signal('buy') },
  { name: 'Sell signal message', use: 'For an alert that means sell', message: signal('sell') },
  {
    name: 'Strategy signal message',
    use: 'For a strategy: its orders say buy or sell',
    message: signal('{{strategy.order.action}}'),
  },
  { name: 'Candle message', use: 'For any chart', message: CANDLE },
  {
    name: 'Candle message with ATR and trends',
    use: 'For an indicator with these three plots',
    message: {
      ...CANDLE,
      ATR: '{{plot_0}}',
      immediate_trend: '{{plot_1}}',
      mature_trend: '{{plot_2}}',
    },
  },
];

export const messageText = (template: AlertTemplate): string => JSON.stringify(template.message, null, 2);
