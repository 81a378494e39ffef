import { randomUUID } from 'node:crypto';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import { createMarket, STEP_MS } from './market.ts';
import { priceText } from './messages.ts';
import { createRandom } from './random.ts';
import { DEMO_TOKENS, type DemoToken } from './tokens.ts';

const DAY_MS = 86_400_000;
/** Six weeks, and before them the days that the indicators need. */
const TRADED_DAYS = 42;
const WARM_UP_DAYS = 10;
/** The live part of the demo trades the last hours itself. */
const ENDS_BEFORE_MS = 6 * 3_600_000;
const TIMEFRAMES = [60, 240];
const STOP_ATR = 1.5;
const REWARD = 2;
const TAKER_FEE = '0.0006';
const FUNDING_EVERY_MS = 8 * 3_600_000;
const FUNDING_RATE = '0.0001';
/** USDT that a trade loses at its stop. */
const RISK_USDT = '20';

/** Which traders took part, and how they sized. */
const TAKERS = [
  { username: 'ada@example.com', method: 'Risk Management', processors: ['Tesla', 'UD Bot'], size: 1 },
  { username: 'grace@example.com', method: 'Portfolio Allocation', processors: ['Tesla'], size: 0.8 },
  { username: 'alan@example.com', method: 'Technical Analysis', processors: ['Tesla', 'UD Bot'], size: 1.2 },
  { username: 'barbara@example.com', method: 'Portfolio Allocation', processors: ['UD Bot'], size: 0.5 },
] as const;

/** A signal of the past that was traded, and its trades that have ended since. */
export interface PastSignal {
  id: string;
  workflowId: string;
  token: string;
  processor: string;
  timeframe: string;
  action: 'buy' | 'sell';
  price: string;
  receivedAt: Date;
  trades: PastTrade[];
}

export interface PastTrade {
  id: string;
  logId: string;
  closedId: string;
  username: string;
  method: string;
  quantity: string;
  entry: string;
  stop: string;
  target: string;
  fill: string;
  closePrice: string;
  closedBy: 'stop loss' | 'take profit' | 'reversal';
  /** In USDT, as exchanges report it: funding included, fees not. */
  realisedProfit: string;
  fees: string;
  funding: string;
  openedAt: Date;
  closedAt: Date;
}

/** Weeks of closed trades from made-up markets, oldest first; the same for the same seed and time. */
export function simulateHistory({ seed, now }: { seed: string; now: Date }): PastSignal[] {
  return DEMO_TOKENS.flatMap((token) => historyOf(token, { seed: `${seed}/history`, now })).sort(
    (a, b) => a.receivedAt.getTime() - b.receivedAt.getTime(),
  );
}

interface OpenPosition {
  signal: Omit<PastSignal, 'trades'>;
  stop: number;
  target: number;
}

function historyOf(token: DemoToken, { seed, now }: { seed: string; now: Date }): PastSignal[] {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const begin = new Date(today - (TRADED_DAYS + WARM_UP_DAYS) * DAY_MS);
  const tradesFrom = today - TRADED_DAYS * DAY_MS;
  const market = createMarket({ token, seed, begin });
  const random = createRandom(`${seed}/${token.token}/fills`);
  const past: PastSignal[] = [];
  let open: OpenPosition | null = null;
  const last = now.getTime() - ENDS_BEFORE_MS;
  for (let ms = begin.getTime(); ms + STEP_MS <= last; ms += STEP_MS) {
    const { closeTime, candles } = market.step();
    const [{ bar }] = candles;
    if (open !== null) {
      const { signal, stop, target } = open;
      const isLong = signal.action === 'buy';
      const isStopped = isLong ? bar.low <= stop : bar.high >= stop;
      const isReversed = candles.some(
        ({ timeframe, crossed, action }) =>
          crossed && String(timeframe) === signal.timeframe && action !== signal.action,
      );
      const isWon = isLong ? bar.high >= target : bar.low <= target;
      if (isStopped || isWon || isReversed) {
        const closedBy = isStopped ? 'stop loss' : isWon ? 'take profit' : 'reversal';
        const exit = isStopped ? stop : isWon ? target : bar.close;
        const closing: Closing = { token, stop, target, exit, closedAt: closeTime, closedBy };
        past.push({ ...signal, trades: tradesOf(signal, closing, random.uniform) });
        open = null;
      }
      continue;
    }
    const candle = candles.find(({ timeframe, crossed }) => crossed && TIMEFRAMES.includes(timeframe));
    const range = candle?.indicators.ATR;
    if (candle === undefined || range === undefined || closeTime.getTime() < tradesFrom) continue;
    const { close } = candle.bar;
    const away = (candle.action === 'buy' ? 1 : -1) * range * STOP_ATR;
    open = {
      signal: {
        id: idAt(closeTime),
        workflowId: idAt(closeTime),
        token: token.token,
        processor: token.processor,
        timeframe: String(candle.timeframe),
        action: candle.action,
        price: priceText(token, close),
        receivedAt: closeTime,
      },
      stop: close - away,
      target: close + REWARD * away,
    };
  }
  return past;
}

interface Closing {
  token: DemoToken;
  stop: number;
  target: number;
  exit: number;
  closedAt: Date;
  closedBy: PastTrade['closedBy'];
}

function tradesOf(
  signal: OpenPosition['signal'],
  { token, stop, target, exit, closedAt, closedBy }: Closing,
  random: () => number,
): PastTrade[] {
  const { action, receivedAt, processor } = signal;
  const direction = action === 'buy' ? 1 : -1;
  return TAKERS.filter(({ processors }) => (processors as readonly string[]).includes(processor)).map(
    (taker) => {
      // Some basis points worse, rarely better.
      const slipped = 1 + (direction * (random() * 4 - 0.5)) / 10_000;
      const fill = D(priceText(token, Number(signal.price) * slipped));
      const closePrice = D(priceText(token, exit * (1 - (direction * random() * 2) / 10_000)));
      const perUnit = D(signal.price).minus(priceText(token, stop)).abs();
      const quantity = D(RISK_USDT).times(taker.size).div(perUnit).toSignificantDigits(4);
      const gross = closePrice.minus(fill).times(direction).times(quantity);
      const openedAt = new Date(receivedAt.getTime() + 1_500 + Math.floor(random() * 4_000));
      const funding = fundingOf(fill.times(quantity), openedAt, closedAt).times(-direction);
      return {
        id: idAt(openedAt),
        logId: idAt(openedAt),
        closedId: idAt(closedAt),
        username: taker.username,
        method: taker.method,
        quantity: toPlain(quantity),
        entry: signal.price,
        stop: priceText(token, stop),
        target: priceText(token, target),
        fill: toPlain(fill),
        closePrice: toPlain(closePrice),
        closedBy,
        realisedProfit: toPlain(gross.plus(funding)),
        fees: toPlain(fill.plus(closePrice).times(quantity).times(TAKER_FEE)),
        funding: toPlain(funding),
        openedAt,
        closedAt,
      };
    },
  );
}

/** What longs pay: a fixed rate at every settlement in between. */
function fundingOf(value: Decimal, from: Date, to: Date): Decimal {
  const settlements =
    Math.floor(to.getTime() / FUNDING_EVERY_MS) - Math.floor(from.getTime() / FUNDING_EVERY_MS);
  return value.times(FUNDING_RATE).times(settlements);
}

/** A time-ordered id, like those that the program gives. */
const idAt = (at: Date): string => {
  const time = at.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
};

export interface PastEquity {
  username: string;
  at: Date;
  takenFor: 'day' | 'hour';
  /** USDT: realised only, and of open positions. */
  wallet: string;
  openProfit: string;
}

const HOUR_MS = 3_600_000;
/** Of a new paper account, so that the past ends where the demo begins. */
const PAPER_BALANCE = '10000';

/** What the accounts of these users were worth at each hour of the history, as the program would have recorded it. */
export function simulateEquity(
  signals: readonly PastSignal[],
  { usernames, now, timeZone }: { usernames: readonly string[]; now: Date; timeZone: string },
): PastEquity[] {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  const last = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - HOUR_MS;
  const first = last - TRADED_DAYS * DAY_MS;
  return usernames.flatMap((username) => {
    const waiting = signals
      .flatMap((signal) => signal.trades)
      .filter((trade) => trade.username === username)
      .sort((a, b) => a.closedAt.getTime() - b.closedAt.getTime());
    let wallet = waiting.reduce((sum, trade) => sum.minus(netOf(trade)), D(PAPER_BALANCE));
    const points: PastEquity[] = [];
    let today = '';
    for (let ms = first; ms <= last; ms += HOUR_MS) {
      // A moment after the hour, like the program.
      const at = new Date(ms + 3_000);
      for (let [next] = waiting; next !== undefined && next.closedAt <= at; [next] = waiting) {
        wallet = wallet.plus(netOf(next));
        waiting.shift();
      }
      const openProfit = waiting
        .filter(({ openedAt }) => openedAt <= at)
        .reduce((sum, trade) => sum.plus(netOf(trade).times(shareOf(trade, at))), D(0));
      const isFirstOfDay = day.format(at) !== today;
      today = day.format(at);
      points.push({
        username,
        at,
        takenFor: isFirstOfDay ? 'day' : 'hour',
        wallet: wallet.toFixed(4),
        openProfit: openProfit.toFixed(4),
      });
    }
    return points;
  });
}

/** How much of a trade's time has passed. */
const shareOf = ({ openedAt, closedAt }: PastTrade, at: Date): number =>
  (at.getTime() - openedAt.getTime()) / (closedAt.getTime() - openedAt.getTime());

const netOf = ({ realisedProfit, fees }: PastTrade): Decimal => D(realisedProfit).minus(fees);
