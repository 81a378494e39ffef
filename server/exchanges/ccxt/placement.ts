import { D, isPositive } from '#domain/decimal.ts';
import {
  type ExchangeAccount,
  ExchangeError,
  notSent,
  type OrderDescription,
  type Placement,
  type PlacementContext,
  requireClientOrderId,
  requireEntrySize,
} from '../exchange.ts';
import { callScope } from './call-scope.ts';
import { type CcxtConnection, openScope, type PrivateRequest, requireAccountMode } from './connection.ts';
import type { CcxtClient, CcxtDialect, Parameters } from './dialect.ts';
import { placementOf } from './errors.ts';

export interface PlacedOrder {
  token: string;
  clientOrderId: string;
  /** It opens a position: what closes or protects one is also sent for a contract that opens nothing. */
  isEntry?: true;
  type: 'limit' | 'market';
  side: 'buy' | 'sell';
  quantity: string;
  prices: { price?: string; stopLoss?: string; takeProfit?: string; triggerPrice?: string };
  parameters: Parameters;
}

export type PlacementRequest = PrivateRequest & { context: PlacementContext };

const NOT_SENT_RETRY_MS = 1_000;

/** Sends an order once and reports the known outcome. Never throws. */
export async function placeOrder(options: {
  connection: CcxtConnection;
  dialect: CcxtDialect;
  request: PlacementRequest;
  order: PlacedOrder;
}): Promise<Placement> {
  const { connection, dialect, request, order } = options;
  const scope = openScope(request);
  try {
    requireAccountMode(dialect, request.account);
    requireClientOrderId(order.clientOrderId);
    const [client, symbol] = [await connection.client(), await symbolFor(options)];
    requireExact(client, symbol, order);
    const placed = await callScope.run(scope, () => send(client, symbol, order));
    const isOurs = placed.clientOrderId === undefined || placed.clientOrderId === order.clientOrderId;
    if (placed.id && isOurs) return { outcome: 'placed', orderId: placed.id };
    return { outcome: 'unknown', message: `${dialect.platform} answered without the id of the order` };
  } catch (error) {
    const judgement = await connection.judge(error, scope);
    // A failure before the order itself was sent cannot have placed it, however unclear the failure was.
    if (!scope.sent && judgement.what === 'unknown') {
      return { outcome: 'retry-later', message: judgement.message, retryAfterMs: NOT_SENT_RETRY_MS };
    }
    return placementOf(judgement);
  }
}

/** Described requests are signed too, for a dummy account: they never leave. */
const NOBODY: ExchangeAccount = {
  userId: 'nobody',
  environment: 'paper',
  credentials: { apiKey: 'none', apiSecret: 'none', passphrase: 'none', accountMode: 'classic' },
};

/** The request that `placeOrder` would send, built by the same code and stopped just before sending. */
export async function describeOrder(options: {
  connection: CcxtConnection;
  dialect: CcxtDialect;
  order: PlacedOrder;
}): Promise<OrderDescription> {
  const { connection, order } = options;
  requireClientOrderId(order.clientOrderId);
  const [client, symbol] = [await connection.client(), await symbolFor(options)];
  requireExact(client, symbol, order);
  const described: OrderDescription[] = [];
  const scope = {
    ...openScope({ type: 'describe-order', account: NOBODY }),
    describe: ({ method, endpoint, body }: { method: string; endpoint: string; body: string }) => {
      described.push({ method, endpoint, payload: JSON.parse(body) as Record<string, unknown> });
    },
  };
  const failure = await callScope.run(scope, () => send(client, symbol, order)).catch((error) => error);
  const [request] = described;
  if (request !== undefined) return request;
  throw new ExchangeError('unknown', 'The order could not be described', { cause: failure });
}

/** Refuses an entry in a contract that opens nothing, and one above its largest order. */
async function symbolFor({
  connection,
  dialect: { platform },
  order: { token, isEntry, quantity },
}: {
  connection: CcxtConnection;
  dialect: Pick<CcxtDialect, 'platform'>;
  order: PlacedOrder;
}): Promise<string> {
  const contract = isEntry ? (await connection.listed(token))?.contract : undefined;
  const { entryProblem, maximumQuantity } = contract ?? {};
  if (entryProblem !== undefined)
    throw notSent(`${token} opens no positions on ${platform}: ${entryProblem}`);
  if (maximumQuantity !== undefined && D(quantity).gt(maximumQuantity))
    throw notSent(
      `quantity ${quantity} is above the largest order of ${maximumQuantity} ${token} on ${platform}`,
    );
  return connection.symbolOf(token);
}

/** The only place that passes decimal strings as numbers: the library formats them unchanged. */
function send(client: CcxtClient, symbol: string, order: PlacedOrder) {
  const asNumber = (text: string) => text as unknown as number;
  const { type, side, quantity, prices, parameters } = order;
  const price = prices.price === undefined ? undefined : asNumber(prices.price);
  return client.createOrder(symbol, type, side, asNumber(quantity), price, parameters);
}

/** Sizing has already rounded in the right direction; the library would round again in either direction. */
function requireExact(client: CcxtClient, symbol: string, { quantity, prices, isEntry }: PlacedOrder): void {
  if (isEntry && prices.price !== undefined) requireEntrySize({ quantity, price: prices.price });
  if (!isPositive(quantity) || !D(quantity).eq(client.amountToPrecision(symbol, quantity) ?? 0)) {
    throw notSent(`quantity ${quantity} does not fit the contract's steps`);
  }
  for (const [name, value] of Object.entries(prices)) requireExactPrice(client, symbol, { name, value });
}

export function requireExactPrice(
  client: CcxtClient,
  symbol: string,
  { name, value }: { name: string; value: string },
): void {
  if (!isPositive(value) || !D(value).eq(client.priceToPrecision(symbol, value) ?? 0)) {
    throw notSent(`${name} ${value} does not fit the contract's steps`);
  }
}
