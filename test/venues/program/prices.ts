import { DEMO_TOKENS } from '#demo/tokens.ts';
import { createWalk } from '#demo/walk.ts';
import { type Decimal, floorToStep, toPlain } from '#domain/decimal.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';

/** The walk's volatility is per five minutes. */
const WALK_SECONDS = 300;

export interface MadeUpPrices {
  /** The current price of every token. */
  now(): Record<string, string>;
  /** Sets a price; the walk continues from it. */
  set(token: string, price: string): void;
  /** Moves every token of the walk by one step. */
  step(): Record<string, string>;
}

/** Seeded prices: the same text creates the same market until a price is set. */
export function madeUpPrices({ seed, stepSeconds }: { seed: string; stepSeconds: number }): MadeUpPrices {
  const prices = new Map<string, string>();
  const walks = DEMO_TOKENS.map(({ token, startPrice, volatility, volume }) => {
    const walk = createWalk({
      seed: `${seed}:${token}`,
      startPrice,
      volatility: volatility * Math.sqrt(stepSeconds / WALK_SECONDS),
      volume,
    });
    prices.set(token, onTick(token, startPrice));
    return { token, walk, price: startPrice };
  });
  return {
    now: () => Object.fromEntries(prices),
    set(token, price) {
      prices.set(token, price);
      const made = walks.find((candidate) => candidate.token === token);
      if (made === undefined) return;
      made.walk.jump(Number(price) / made.price);
      made.price = Number(price);
    },
    step() {
      for (const made of walks) {
        made.price = made.walk.next().close;
        prices.set(made.token, onTick(made.token, made.price));
      }
      return Object.fromEntries(walks.map(({ token }) => [token, prices.get(token) ?? '']));
    },
  };
}

function onTick(token: string, price: number): string {
  const { tickSize } = paperContract(token);
  const cut: Decimal = floorToStep(price.toPrecision(12), tickSize);
  return cut.isZero() ? tickSize : toPlain(cut);
}
