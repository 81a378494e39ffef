import { createRandom, type Random } from './random.ts';

export interface Bar {
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

type Regime = 'up' | 'down' | 'range';

interface Phase {
  regime: Regime;
  barsLeft: number;
  /** How lively the phase is; 1 is usual. */
  liveliness: number;
  /** What a range is drawn back to. */
  anchor: number;
}

/** Steps inside a bar: enough for highs and lows that differ from open and close. */
const TICKS = 12;
/** Drift of a trend per bar, in standard deviations of a bar. */
const TREND_DRIFT = 0.22;
/** How much of the way back to its anchor a range goes per bar. */
const RANGE_PULL = 0.06;

/**
 * An endless sequence of bars from a seeded random walk: trends up and down and ranges take turns, some calm,
 * some lively. The same options give the same bars.
 */
export function createWalk(options: {
  seed: string;
  startPrice: number;
  /** Standard deviation of a bar's return. */
  volatility: number;
  /** Typical volume of a bar. */
  volume: number;
}): () => Bar {
  const { startPrice, volatility, volume } = options;
  const random = createRandom(options.seed);
  let price = startPrice;
  let phase: Phase = nextPhase(random, price);

  return () => {
    if (phase.barsLeft === 0) phase = nextPhase(random, price);
    phase.barsLeft -= 1;
    const deviation = volatility * phase.liveliness;
    const drift = driftOf(phase, price, deviation) + homeward(price, startPrice);
    const bar: Bar = { open: price, high: price, low: price, close: price, volume: 0 };
    for (let tick = 0; tick < TICKS; tick += 1) {
      price *= Math.exp(drift / TICKS + (deviation / Math.sqrt(TICKS)) * random.normal());
      bar.high = Math.max(bar.high, price);
      bar.low = Math.min(bar.low, price);
    }
    bar.close = price;
    const unrest = Math.abs(Math.log(bar.close / bar.open)) / volatility;
    bar.volume = volume * (0.4 + 0.6 * unrest + 0.5 * random.uniform());
    return bar;
  };
}

function nextPhase(random: Random, price: number): Phase {
  const draw = random.uniform();
  return {
    regime: draw < 0.35 ? 'up' : draw < 0.7 ? 'down' : 'range',
    barsLeft: 20 + Math.floor(random.uniform() * 70),
    liveliness: 0.6 + 1.2 * random.uniform() ** 2,
    anchor: price,
  };
}

function driftOf({ regime, anchor }: Phase, price: number, deviation: number): number {
  if (regime === 'range') return RANGE_PULL * Math.log(anchor / price);
  return (regime === 'up' ? TREND_DRIFT : -TREND_DRIFT) * deviation;
}

/** Keeps a walk of many days within sight of where it began. */
function homeward(price: number, startPrice: number): number {
  return 0.0008 * Math.log(startPrice / price);
}
