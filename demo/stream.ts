import { setTimeout as sleep } from 'node:timers/promises';
import { BASE_MINUTES, MINUTE_MS } from './bars.ts';
import type { Action } from './crossings.ts';
import type { Crossing, Market } from './market.ts';
import { candleMessage, type Message, priceText, signalMessage, unfilledMessage } from './messages.ts';
import type { HookAnswer } from './program-client.ts';

/** Sends no signals of its own: what is wrong with its prices must not reach open positions. */
export const MISPRICED_TOKEN = 'ADA';
const MISPRICED_EVERY = 7;
const WRONG_FACTOR = 1.15;
/** The mispriced signal's own price is the newest one known, so the right one follows at its heels. */
const CORRECTION_AFTER_MS = 2;

/** After some signals the price runs away from them: orders miss it, and the second attempt or none follows. */
const RUNAWAY_EVERY = 5;
const RUNAWAY = { steps: 24, factor: 1.0009, pauseMs: 45 };

/** In turns of the stream: one token's base bar each. */
const REPEATED_EVERY = 20;
const UNFILLED_EVERY = 25;

export interface StreamOptions {
  markets: readonly Market[];
  deliver: (message: Message) => Promise<HookAnswer>;
  say: (line: string) => void;
  /** How many times as fast as the clock the markets go. */
  speed: number;
  signal: AbortSignal;
}

/**
 * Lets the markets go on, one after another, until the signal aborts. Everything carries the time of the clock;
 * faster than the clock, so that positions reach their stops and targets while somebody watches.
 */
export async function runStream(options: StreamOptions): Promise<void> {
  const { markets, speed, signal } = options;
  const pauseMs = (BASE_MINUTES * MINUTE_MS) / speed / markets.length;
  const opening = new Set(markets);
  let signals = 0;
  const countSignal = () => ++signals;
  for (let turn = 0; !signal.aborted; turn += 1) {
    const market = markets[turn % markets.length];
    if (market === undefined) throw new Error('The stream has no markets');
    await runTurn({ ...options, market, turn, isOpening: opening.delete(market), countSignal });
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

interface Turn extends StreamOptions {
  market: Market;
  turn: number;
  isOpening: boolean;
  countSignal: () => number;
}

async function runTurn(options: Turn): Promise<void> {
  const { market, turn, deliver, say } = options;
  const { token } = market;
  const round = Math.floor(turn / options.markets.length);
  const { candles, crossings, price } = market.step();
  const now = new Date();
  const sendsSignals = token.token !== MISPRICED_TOKEN;

  let mispriced: Promise<void> | null = null;
  if (!sendsSignals && round % MISPRICED_EVERY === 1) {
    const wrong: Crossing = { token, timeframeMinutes: 15, action: 'buy', price: price * WRONG_FACTOR };
    mispriced = sendSignal(options, wrong, now, ' (a price from another chart)');
    await sleep(CORRECTION_AFTER_MS);
  }
  for (const candle of candles) await deliver(candleMessage(candle, now));
  await mispriced;

  if (sendsSignals) {
    for (const crossing of standing(options, price) ?? crossings) {
      await sendSignal(options, crossing, now);
      if (options.countSignal() % RUNAWAY_EVERY === 0) await runAway(options, crossing.action);
    }
  }

  const [candle] = candles;
  if (turn % REPEATED_EVERY === 9 && candle !== undefined) {
    const { status, duplicate } = await deliver(candleMessage(candle, now));
    say(`${token.token} the last candle once more: ${status}${duplicate ? ', a duplicate' : ''}`);
  }
  if (turn % UNFILLED_EVERY === 6) {
    const { status, message } = await deliver(unfilledMessage(token, now));
    say(`${token.token} an alert with an unknown placeholder: ${status}, ${message}`);
  }
}

/** The alerts were just switched on: each token tells where it stands. */
function standing({ market, isOpening }: Turn, price: number): Crossing[] | null {
  const action = market.side(15);
  if (!isOpening || action === null) return null;
  return [{ token: market.token, timeframeMinutes: 15, action, price }];
}

async function runAway({ market, deliver, say }: Turn, action: Action): Promise<void> {
  const { steps, factor, pauseMs } = RUNAWAY;
  for (let step = 0; step < steps; step += 1) {
    await sleep(pauseMs);
    const candle = market.surge(action === 'buy' ? factor : 1 / factor);
    await deliver(candleMessage(candle, new Date()));
  }
  const percent = (100 * (factor ** steps - 1)).toFixed(1);
  say(`${market.token.token} runs ${percent}% ${action === 'buy' ? 'up' : 'down'}, away from the signal`);
}

async function sendSignal({ deliver, say }: Turn, crossing: Crossing, now: Date, note = ''): Promise<void> {
  const { token, action, price, timeframeMinutes } = crossing;
  const { status, message } = await deliver(signalMessage(crossing, now));
  const outcome = status === 200 ? 'stored' : `${status}, ${message}`;
  say(`${token.token} ${action} at ${priceText(token, price)} on ${timeframeMinutes}m${note}: ${outcome}`);
}
