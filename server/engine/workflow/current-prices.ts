import type { ExchangePlatform } from '#domain/user-settings.ts';
import { listExchangesInUse } from '#server/admin/settings/settings.store.ts';
import type { Deps } from '#server/deps.ts';
import { type PricedWorkflow, viewerOf } from './workflow-prices.ts';

/** How long to wait for an exchange that does not answer: users of other exchanges wait with it. */
const PATIENCE_MS = 3_000;

export interface CurrentPrice {
  exchange: ExchangePlatform;
  /** Null when no answer came in time. */
  price: string | null;
}

/** The token's price at every supported exchange in use by any user; at the first exchange when none is in use. */
export async function readCurrentPrices(
  deps: Pick<Deps, 'clock' | 'db' | 'exchanges' | 'workflowPrices'>,
  { workflowId, signal }: Pick<PricedWorkflow, 'workflowId' | 'signal'>,
  patienceMs = PATIENCE_MS,
): Promise<CurrentPrice[]> {
  const of = { workflowId, signal, userId: viewerOf(signal) };
  const platforms = await exchangesInUse(deps);
  return Promise.all(
    platforms.map(async (exchange) => {
      const answered = deps.workflowPrices
        .read(of, deps.exchanges.get(exchange))
        .then(({ livePrice }) => livePrice);
      const late = deps.clock.sleep(patienceMs).then(() => null);
      return { exchange, price: await Promise.race([answered, late]) };
    }),
  );
}

async function exchangesInUse({
  db,
  exchanges,
}: Pick<Deps, 'db' | 'exchanges'>): Promise<ExchangePlatform[]> {
  const chosen = new Set(await listExchangesInUse(db));
  const inUse = exchanges.supported.filter((platform) => chosen.has(platform));
  return inUse.length > 0 ? inUse : exchanges.supported.slice(0, 1);
}
