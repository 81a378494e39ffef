import type { EngineDeps } from '#server/deps.ts';
import { readPrice } from '#server/engine/sizing/read-price.ts';
import type { Exchange, PlacementContext } from '#server/exchanges/exchange.ts';
import { Crash } from '../app/crashing-database.ts';

export type DyingCall = {
  [Name in keyof Exchange]: Exchange[Name] extends (...parameters: never[]) => Promise<unknown>
    ? Name
    : never;
}[keyof Exchange];

/** Overrides for an exchange. */
export type Answers = (exchange: Exchange) => Partial<Exchange>;

/** The same dependencies with overridden exchanges. */
export const answering = (deps: EngineDeps, answers: Answers): EngineDeps => ({
  ...deps,
  exchanges: {
    ...deps.exchanges,
    get(platform) {
      const exchange = deps.exchanges.get(platform);
      return { ...exchange, ...answers(exchange) };
    },
  },
});

/** The same dependencies, which share no price with other calls: for a market that changes within a second. */
export const readingEachPrice = (deps: EngineDeps): EngineDeps => ({
  ...deps,
  workflowPrices: { read: ({ signal, userId }, exchange) => readPrice(deps, exchange, signal, userId) },
});

/**
 * The same dependencies, but `happens` runs at one kind of exchange call: before it leaves or after its answer. An entry
 * is announced before it leaves.
 */
export function atExchangeCall(
  deps: EngineDeps,
  options: { call: DyingCall; when: 'before' | 'after'; happens: () => Promise<void> | void },
): EngineDeps {
  const { call, when, happens } = options;
  return answering(deps, (exchange) => {
    const original = exchange[call] as (...parameters: unknown[]) => Promise<unknown>;
    const wrapped = async (...parameters: unknown[]) => {
      const announced =
        when === 'before' && call === 'placeOrder' ? await announceFirst(parameters) : parameters;
      if (when === 'before') await happens();
      const answer = await original(...announced);
      if (when === 'after') await happens();
      return answer;
    };
    return { [call]: wrapped };
  });
}

/** Announces the placement; the same parameters without the announcement. */
async function announceFirst(parameters: unknown[]): Promise<unknown[]> {
  const { announce, ...context } = parameters.at(-1) as PlacementContext;
  await announce?.();
  return parameters.with(-1, context);
}

/** A process that crashes at this call, the nth time. */
export function dyingAt(deps: EngineDeps, call: DyingCall, when: 'before' | 'after', nth = 1): EngineDeps {
  let calls = 0;
  return atExchangeCall(deps, {
    call,
    when,
    happens() {
      calls += 1;
      if (calls >= nth) throw new Crash();
    },
  });
}
