import { setTimeout as sleep } from 'node:timers/promises';
import { type Market, STEP_MS } from './market.ts';
import { candleMessage, type Message, priceText, type Signal, signalMessage } from './messages.ts';
import type { HookAnswer } from './program-client.ts';

/** A token without signals, so its wrong prices never reach open positions. */
const MISPRICED_TOKEN = 'ADA';
const MISPRICED_EVERY_ROUNDS = 7;
const WRONG_FACTOR = 1.15;
/** The mispriced signal becomes the newest known price, so a correct one follows immediately. */
const CORRECTION_AFTER_MS = 2;

/** After some signals the price runs away, so the order does not fill and a second attempt may follow. */
const RUNAWAY_EVERY_SIGNALS = 5;
const RUNAWAY = { steps: 24, factor: 1.0009, pauseMs: 45 };

/** A turn is one step of one token. */
const REPEATED_EVERY_TURNS = 20;
const UNFILLED_EVERY_TURNS = 25;

/**
 * Runs the markets, one token after another, until the signal aborts. Messages carry the current time, but markets run
 * `speed` times as fast, so a viewer sees positions reach their stops and targets.
 */
export async function runStream(options: {
  markets: readonly Market[];
  deliver: (message: Message) => Promise<HookAnswer>;
  say: (line: string) => void;
  speed: number;
  signal: AbortSignal;
}): Promise<void> {
  const { markets, deliver, say, speed, signal } = options;
  let signals = 0;

  async function sendSignal(sent: Signal, note = ''): Promise<void> {
    const { status, message } = await deliver(signalMessage(sent, new Date()));
    const outcome = status === 200 ? 'stored' : `${status}, ${message}`;
    say(`${sent.token.token} ${sent.action} at ${sent.price} on ${sent.timeframe}m${note}: ${outcome}`);
  }

  async function runAway({ token, surge }: Market, action: Signal['action']): Promise<void> {
    const { steps, factor, pauseMs } = RUNAWAY;
    for (let step = 0; step < steps; step += 1) {
      await sleep(pauseMs);
      await deliver(candleMessage(surge(action === 'buy' ? factor : 1 / factor), new Date()));
    }
    const percent = (100 * (factor ** steps - 1)).toFixed(1);
    say(`${token.token} runs ${percent}% ${action === 'buy' ? 'up' : 'down'}, away from the signal`);
  }

  async function takeTurn(market: Market, turn: number): Promise<void> {
    const { token } = market;
    const now = new Date();
    const round = Math.floor(turn / markets.length);
    const { candles } = market.step();
    const [newest] = candles;
    const price = newest.bar.close;
    const isMispriced = token.token === MISPRICED_TOKEN;

    let mispriced: Promise<void> | undefined;
    if (isMispriced && round % MISPRICED_EVERY_ROUNDS === 1) {
      const wrong = priceText(token, price * WRONG_FACTOR);
      mispriced = sendSignal({ ...newest, action: 'buy', price: wrong }, ' (a price from another chart)');
      await sleep(CORRECTION_AFTER_MS);
    }
    for (const candle of candles) await deliver(candleMessage(candle, now));
    await mispriced;

    // Every token sends a signal in the first round, so the first minutes are not empty.
    const crossed = round === 0 ? [newest] : candles.filter((candle) => candle.crossed);
    for (const candle of isMispriced ? [] : crossed) {
      await sendSignal({ ...candle, price: priceText(token, price) });
      signals += 1;
      if (signals % RUNAWAY_EVERY_SIGNALS === 0) await runAway(market, candle.action);
    }

    if (turn % REPEATED_EVERY_TURNS === 9) {
      const { status, duplicate } = await deliver(candleMessage(newest, now));
      say(`${token.token} repeats its last candle: ${status}${duplicate ? ', a duplicate' : ''}`);
    }
    if (turn % UNFILLED_EVERY_TURNS === 6) {
      const unfilled = signalMessage({ ...newest, price: '{{close_price}}' }, new Date());
      const { status, message } = await deliver(unfilled);
      say(`${token.token} an alert with an unknown placeholder: ${status}, ${message}`);
    }
  }

  for (let turn = 0; !signal.aborted; turn += 1) {
    const market = markets[turn % markets.length];
    if (market === undefined) throw new Error('The stream has no markets');
    await takeTurn(market, turn);
    await sleep(STEP_MS / speed / markets.length, undefined, { signal }).catch(() => undefined);
  }
}
