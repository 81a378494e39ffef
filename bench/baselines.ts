// Baselines that benchmarks are compared with, each in its own process: baselines.ts route | orders TOKEN COUNT.
// DATABASE_URL names the database.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { storedMarks } from '#server/engine/sizing/stored-marks.ts';
import { BITGET } from '#server/exchanges/ccxt/bitget.ts';
import { callScope } from '#server/exchanges/ccxt/call-scope.ts';
import { openScope } from '#server/exchanges/ccxt/connection.ts';
import { createTransport } from '#server/exchanges/ccxt/transport.ts';
import type { DeliveryOutcome } from '#server/ingest/deliveries.store.ts';
import { systemClock } from '#server/platform/clock.ts';
import { parseConfig } from '#server/platform/config/config.ts';
import type { Db } from '#server/platform/db/database.ts';
import { openPool } from '#server/platform/db/pool.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { createLog } from '#server/platform/log.ts';
import { buildProgram } from '#server/program.ts';
import { createVenue } from '#test/venues/venue.ts';
import { venueCredentials } from '#test/venues/venue-credentials.ts';

const SECRET = 'the secret of a benchmark, long enough';

const log = createLog({ level: 'silent' });
const database = openPool({ connection: { connectionString: process.env.DATABASE_URL ?? '' }, log });
const [name, token = '', count = '0'] = process.argv.slice(2);
await (name === 'route' ? serveRoute() : placeOrders(token, Number(count)));

/**
 * Serves the program as program.ts wires it, with routes, guards and group commit but without the engine. The
 * transaction that stores a batch is replaced, so no request reaches the database; only the idle job queue uses it.
 * Prints the URL.
 */
async function serveRoute(): Promise<void> {
  const config = parseConfig({
    APP_ENV: 'production',
    // Not paper mode: that looks up new prices in the database.
    EXCHANGE_MODE: 'demo',
    AUTO_TRADE: 'disabled',
    DATA_DIR: tmpdir(),
    DATABASE_URL: process.env.DATABASE_URL,
    SECRET_KEY: SECRET,
    WEBHOOK_RATE_LIMIT: '0',
  });
  // Typed, because a proxy returns anything: an outcome without a field that the route reads is answered 500.
  const storeOne = (): DeliveryOutcome => ({
    outcome: 'stored',
    id: timeOrderedId(),
    duplicate: false,
    token: 'BTC',
    warnings: [],
  });
  // Answers every delivery of a batch of any size as stored, each with its own id.
  const stored = new Proxy<DeliveryOutcome[]>([], {
    get: (none, key) => (Number.isInteger(Number(key)) ? storeOne() : Reflect.get(none, key)),
  });
  const deliveryDb = new Proxy(database.deliveryDb, {
    get: (target, key) => (key === 'transaction' ? async () => stored : Reflect.get(target, key)),
  }) satisfies Db;
  const own = { ...database, deliveryDb };
  const { app } = await buildProgram({ config, log, clock: systemClock, database: own });
  process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
}

/**
 * Orders by the client library, without the engine: the program's client and transport, and the test venue on the
 * program's database. Places one order for each of `count` new accounts, sequentially, then closes the position that
 * it opened in the same way, and prints the milliseconds of each.
 */
async function placeOrders(token: string, count: number): Promise<void> {
  const clock = systemClock;
  const venue = createVenue({
    // As in the program: prepared statements on a separate connection.
    db: database.engineDb,
    clock,
    marks: storedMarks(),
    startBalance: '10000',
    credentialsFor: (userId) => venueCredentials(userId, SECRET),
  });
  const transport = createTransport({
    environment: 'paper',
    origins: { [BITGET.origins.paper]: BITGET.origins.paper },
    timeoutMs: 10_000,
    clock,
    venue,
    environmentProblem: BITGET.environmentProblem,
    isSuccess: ({ status }) => status < 300,
  });
  const client = await BITGET.createClient({
    environment: 'paper',
    userAgent: 'bench',
    transport,
    now: clock.now,
  });
  await callScope.run(openScope({ type: 'contracts' }), () => client.loadMarkets());

  const symbol = `${token}/USDT:USDT`;
  const asNumber = (text: string) => text as unknown as number;
  const ordersMs: number[] = [];
  const closesMs: number[] = [];
  const closings: (() => Promise<unknown>)[] = [];
  for (let index = 0; index < count; index += 1) {
    const userId = randomUUID();
    const credentials = venueCredentials(userId, SECRET);
    const account = { userId, environment: 'paper', credentials } as const;
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
    // Set up beforehand, as for an account that has traded before; not measured.
    await callScope.run(openScope({ type: 'set-position-mode', account }), () =>
      client.setPositionMode(false, symbol),
    );
    const [quantity, price] = [asNumber(order.quantity), asNumber(order.price)];
    const startedAt = performance.now();
    await callScope.run(openScope({ type: 'place-order', account }), () =>
      client.createOrder(symbol, 'limit', order.side, quantity, price, BITGET.entryParameters(order)),
    );
    ordersMs.push(performance.now() - startedAt);
    closings.push(() =>
      callScope.run(openScope({ type: 'close-position', account }), () =>
        client.createOrder(
          symbol,
          'market',
          'sell',
          quantity,
          undefined,
          BITGET.closeParameters(randomUUID().replaceAll('-', '')),
        ),
      ),
    );
  }
  for (const close of closings) {
    const startedAt = performance.now();
    await close();
    closesMs.push(performance.now() - startedAt);
  }
  await transport.close();
  await database.close();
  process.stdout.write(JSON.stringify({ ordersMs, closesMs }));
}
