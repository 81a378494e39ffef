// Sends one test signal or candle to a webhook, as the charting platform would.
import { parseArgs } from 'node:util';

const HELP = `node scripts/send-signal.mjs --url WEBHOOK_URL --symbol SYMBOL --price PRICE [options]

Sends one signal to a webhook; with --candle one candle. The addresses are on the Webhook Configuration screen.

  --url URL         the webhook's address with its key (…/hooks/trading_view_signal?hkid=…); either one will do
  --symbol TEXT     BTCUSDT, BITGET:BTCUSDT.P, …
  --price N         the signal's price, or the candle's close
  --timeframe TEXT  15, 60, 240, D, … (15)
  --processor TEXT  Tesla, UD Bot, … (Tesla; a candle has none unless it is given)
  --text            as text/plain instead of application/json

A signal:
  --action WORD     buy, sell, long or short (buy)
  --no-time         without a time field: an equal one counts as new after a minute, not never

A candle:
  --candle          sends a candle
  --open N, --high N, --low N, --volume N   (the price for all three, and 1)
  --atr N, --trend WORD                     ATR and mature_trend; left out unless given

  node scripts/send-signal.mjs --url "$URL" --candle --symbol BTCUSDT --price 65000 --atr 300 --trend bullish
  node scripts/send-signal.mjs --url "$URL" --action buy --symbol BTCUSDT --price 65000

Prints the status and the answer. Ends with 0 when it was stored or known already, with 1 otherwise.
`;

const text = /** @type {const} */ ({ type: 'string' });
const flag = /** @type {const} */ ({ type: 'boolean', default: false });
const options = {
  url: text,
  symbol: text,
  price: text,
  timeframe: { ...text, default: '15' },
  processor: text,
  text: flag,
  action: { ...text, default: 'buy' },
  'no-time': flag,
  candle: flag,
  open: text,
  high: text,
  low: text,
  volume: { ...text, default: '1' },
  atr: text,
  trend: text,
  help: { ...flag, short: 'h' },
};

process.exitCode = await main();

async function main() {
  let given;
  try {
    given = parseArgs({ options }).values;
  } catch (error) {
    return complain(error.message);
  }
  if (given.help) {
    process.stdout.write(HELP);
    return 0;
  }
  for (const name of ['url', 'symbol', 'price']) if (!given[name]) return complain(`--${name} is missing`);
  if (!URL.canParse(given.url)) return complain(`--url is "${given.url}", which is no address`);
  return send(given);
}

async function send(given) {
  const address = new URL(given.url);
  address.pathname = given.candle ? '/hooks/trading_view_candler' : '/hooks/trading_view_signal';
  let answer;
  try {
    answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': `${given.text ? 'text/plain' : 'application/json'}; charset=utf-8` },
      body: JSON.stringify(given.candle ? candle(given) : signal(given)),
    });
  } catch (error) {
    return complain(`${address.origin} does not answer (${error.cause?.code ?? error.message})`);
  }
  process.stdout.write(`${answer.status} ${await answer.text()}\n`);
  return answer.ok ? 0 : 1;
}

function signal({ symbol, action, price, timeframe, processor = 'Tesla', 'no-time': noTime }) {
  const time = noTime ? undefined : new Date().toISOString();
  return { symbol, action, price, timeframe, processor, time };
}

/** Undefined fields are left out of the JSON. */
function candle({ symbol, price, timeframe, processor, open, high, low, volume, atr, trend }) {
  const DateTime = new Date().toISOString().slice(0, 16).replaceAll(/\D/g, '');
  return {
    Timeframe: timeframe,
    Symbol: symbol,
    DateTime,
    Open: open ?? price,
    High: high ?? price,
    Low: low ?? price,
    Close: price,
    Volume: volume,
    ATR: atr,
    mature_trend: trend,
    processor,
  };
}

function complain(message) {
  process.stderr.write(`${message}; --help shows what there is\n`);
  return 1;
}
