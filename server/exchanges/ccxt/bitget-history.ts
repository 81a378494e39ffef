import type { ClosedPosition } from '../exchange.ts';
import { closedPositionOf, closedPositionsIn } from './bitget-readers.ts';
import { readAnswer } from './connection.ts';
import type { CcxtClient } from './dialect.ts';
import type { BitgetClient } from './library.ts';

const PAGE_SIZE = 100;
/** Ten full pages of history in one go are enough; what is older is asked for by the next call. */
const MOST_PAGES = 10;
/** Bitget keeps three months, and refuses a longer period than 90 days. */
const MAX_AGE_MS = 89 * 86_400_000;

/** The library's own method leaves the product type out. */
export async function readClosedPositions(
  client: CcxtClient,
  { since, now }: { since: Date; now: Date },
): Promise<ClosedPosition[]> {
  const startTime = String(Math.max(since.getTime(), now.getTime() - MAX_AGE_MS));
  const found = new Map<string, ClosedPosition>();
  let before: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer: unknown = await (client as BitgetClient).privateMixGetV2MixPositionHistoryPosition({
      productType: 'USDT-FUTURES',
      startTime,
      limit: String(PAGE_SIZE),
      ...(before === null ? {} : { idLessThan: before }),
    });
    const read = readAnswer(() => closedPositionsIn(answer).map(closedPositionOf));
    const known = found.size;
    const positions = read.filter((position) => position !== null);
    for (const position of positions) found.set(position.positionId, position);
    before = positions.at(-1)?.positionId ?? null;
    // A page that brings nothing new would be answered for ever.
    if (read.length < PAGE_SIZE || before === null || found.size === known) break;
  }
  return [...found.values()];
}
