import { randomUUID } from 'node:crypto';
import { storedMarks } from '#server/engine/sizing/stored-marks.ts';
import { BITGET } from '#server/exchanges/ccxt/bitget.ts';
import { callScope } from '#server/exchanges/ccxt/call-scope.ts';
import { openScope } from '#server/exchanges/ccxt/connection.ts';
import { createTransport } from '#server/exchanges/ccxt/transport.ts';
import type { ExchangeAccount } from '#server/exchanges/exchange.ts';
import { systemClock } from '#server/platform/clock.ts';
import { openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';
import { createVenue } from '#test/venues/venue.ts';
import { venueCredentials } from '#test/venues/venue-credentials.ts';

/**
 * Orders with the client library only: the program's own client and transport, the test venue on the program's database,
 * and nothing of the engine. One order for each of so many new accounts, one after the other.
 * Usage: DATABASE_URL=… ccxt-orders.ts TOKEN COUNT. Prints the milliseconds of each.
 */
const [token = '', count = ''] = process.argv.slice(2);
const SECRET = 'the secret of a benchmark, long enough';
const now = () => systemClock.now();

const database = openPool({
  connection: { connectionString: process.env.DATABASE_URL ?? '' },
  log: createLog({ level: 'silent' }),
});
const venue = createVenue({
  // As the program has it: statements prepared, on a connection of its own.
  db: database.engineDb,
  clock: systemClock,
  marks: storedMarks(),
  startBalance: '10000',
  credentialsFor: (userId) => venueCredentials(userId, SECRET),
});
const transport = createTransport({
  environment: 'paper',
  origins: { [BITGET.origins.paper]: BITGET.origins.paper },
  timeoutMs: 10_000,
  now,
  venue,
  environmentProblem: BITGET.environmentProblem,
  isSuccess: ({ status }) => status < 300,
});
const client = await BITGET.createClient({ environment: 'paper', userAgent: 'bench', transport, now });
await callScope.run(openScope({ type: 'contracts' }), () => client.loadMarkets());

const symbol = `${token}/USDT:USDT`;
const asNumber = (text: string) => text as unknown as number;

async function placeOne(): Promise<number> {
  const userId = randomUUID();
  const account: ExchangeAccount = {
    userId,
    environment: 'paper',
    credentials: venueCredentials(userId, SECRET),
  };
  const order = {
    token,
    side: 'buy',
    quantity: '1',
    price: '100',
    stopLoss: '98',
    takeProfit: '104',
    leverage: 10,
    clientOrderId: randomUUID().replaceAll('-', ''),
  } as const;
  // As the account of somebody who has traded before; not counted.
  await callScope.run(openScope({ type: 'set-position-mode', account }), () =>
    client.setPositionMode(false, symbol),
  );
  const startedAt = performance.now();
  await callScope.run(openScope({ type: 'place-order', account }), () =>
    client.createOrder(
      symbol,
      'limit',
      order.side,
      asNumber(order.quantity),
      asNumber(order.price),
      BITGET.entryParameters(order),
    ),
  );
  return performance.now() - startedAt;
}

const ordersMs: number[] = [];
for (let index = 0; index < Number(count); index += 1) ordersMs.push(await placeOne());
await transport.close();
await database.close();
process.stdout.write(JSON.stringify({ ordersMs }));
