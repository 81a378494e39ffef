import { type Decimal, toPlain } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { EntryOrder, OrderDescription } from '../exchange.ts';
import type { RefusalReason, RefusalWords } from './refusals.ts';

/** The entry order as it would be sent, shown before it is confirmed. */
export const ENTRY_OF: Record<ExchangePlatform, (order: EntryOrder) => OrderDescription> = {
  Bitget: (order) => ({
    method: 'POST',
    endpoint: '/api/v2/mix/order/place-order',
    payload: {
      symbol: `${order.token}USDT`,
      productType: 'USDT-FUTURES',
      marginCoin: 'USDT',
      marginMode: 'isolated',
      side: order.side,
      orderType: 'limit',
      price: order.price,
      size: order.quantity,
      force: 'GTC',
      clientOid: order.clientOrderId,
      presetStopLossPrice: order.stopLoss,
      presetStopSurplusPrice: order.takeProfit,
    },
  }),
  Bybit: (order) => ({
    method: 'POST',
    endpoint: '/v5/order/create',
    payload: {
      category: 'linear',
      symbol: `${order.token}USDT`,
      side: order.side === 'buy' ? 'Buy' : 'Sell',
      orderType: 'Limit',
      price: order.price,
      qty: order.quantity,
      timeInForce: 'GTC',
      orderLinkId: order.clientOrderId,
      stopLoss: order.stopLoss,
      takeProfit: order.takeProfit,
      tpslMode: 'Full',
      slTriggerBy: 'MarkPrice',
      tpTriggerBy: 'MarkPrice',
      slOrderType: 'Market',
      tpOrderType: 'Market',
      positionIdx: 0,
    },
  }),
};

/** The platform's code and message for a refusal of the books. */
export function refusalOf(platform: ExchangePlatform, reason: RefusalReason): RefusalWords {
  const say = REFUSALS[reason.kind][platform] as Say;
  const [code, message, details] = say(reason);
  return { code, message, details };
}

type Said = [code: string, message: string, details?: unknown];
type Say<Kind extends RefusalReason['kind'] = RefusalReason['kind']> = (
  reason: Extract<RefusalReason, { kind: Kind }>,
) => Said;

/**
 * Codes from the platforms' lists. Bybit does not document which code it returns for which invalid field (all 10001
 * here), and its messages vary over time.
 */
const REFUSALS: { [Kind in RefusalReason['kind']]: Record<ExchangePlatform, Say<Kind>> } = {
  'position-mode': {
    Bitget: () => [
      '45021',
      'When one-way position is held, the order type must also be one-way position type',
    ],
    Bybit: () => ['10001', 'position idx not match position mode'],
  },
  'off-step': {
    Bitget: ({ field, value, step }) => [
      '40808',
      `Parameter verification exception ${field} checkBDScale error value=${toPlain(value)} checkScale=${step}`,
    ],
    Bybit: ({ field }) => ['10001', `${BYBIT_FIELDS[field]} invalid`],
  },
  'price-missing': {
    Bitget: () => ['40017', 'Parameter verification failed price'],
    Bybit: () => ['10001', 'Price invalid'],
  },
  'no-market-price': {
    Bitget: () => ['40020', 'There is no market price yet'],
    Bybit: () => ['10001', 'There is no market price yet'],
  },
  'below-minimum-quantity': {
    Bitget: ({ minimum }) => ['45111', `less than the minimum order quantity ${minimum}`],
    Bybit: () => ['10001', 'The number of contracts exceeds minimum limit allowed'],
  },
  'below-minimum-notional': {
    Bitget: ({ minimum }) => ['45110', `less than the minimum amount ${minimum} USDT`],
    Bybit: ({ minimum }) => ['110094', `Order does not meet minimum order value ${minimum}USDT`],
  },
  'wrong-side': {
    Bitget: ({ planType, side, price }) => {
      const at = toPlain(price);
      if (planType === 'pos_profit') {
        const relation = side === 'long' ? '>' : '<';
        return ['40915', `Take profit price of a ${side} position please ${relation} mark price ${at}`];
      }
      return side === 'long'
        ? ['40917', `Stop price for long positions please < mark price ${at}`]
        : ['45122', `Short position stop loss price please > mark price ${at}`];
    },
    Bybit: ({ planType, side, trigger, price }) => {
      const name = planType === 'pos_loss' ? 'StopLoss' : 'TakeProfit';
      const relation = (planType === 'pos_loss') === (side === 'long') ? 'lower' : 'higher';
      const position = side === 'long' ? 'Buy' : 'Sell';
      return [
        '10001',
        `${name}:${scaled(trigger)} set for ${position} position should be ${relation} than base_price:${scaled(price)}??MarkPrice`,
      ];
    },
  },
  'duplicate-client-order-id': {
    Bitget: () => ['45034', 'clientOid duplicate'],
    Bybit: () => ['110072', 'OrderLinkedID is duplicate'],
  },
  'no-position': {
    Bitget: () => ['22002', 'No position to close'],
    Bybit: () => ['110017', 'current position is zero, cannot fix reduce-only order qty'],
  },
  balance: {
    Bitget: () => ['40762', 'The order amount exceeds the balance'],
    Bybit: () => ['110007', 'ab not enough for new order'],
  },
  'leverage-too-high': {
    Bitget: () => ['45045', 'Exceeds the maximum possible leverage'],
    Bybit: ({ leverage, maximum }) => [
      '110013',
      `cannot set leverage [${leverage * 100}] gt maxLeverage [${maximum * 100}] by risk limit`,
    ],
  },
  'order-unknown': {
    Bitget: () => ['45057', 'The order does not exist!'],
    Bybit: () => ['110001', 'order not exists or too late to cancel'],
  },
  'order-ended': {
    Bitget: () => ['22001', 'No order to cancel'],
    Bybit: () => ['110001', 'order not exists or too late to cancel'],
  },
  'business-open': {
    Bitget: ({ setting }) =>
      setting === 'position mode'
        ? ['40920', 'Position or order exists, the position mode cannot be switched']
        : ['45117', 'Currently holding positions or orders, the margin mode cannot be adjusted'],
    Bybit: ({ setting, because }) => {
      if (setting === 'margin mode') {
        const reasonMsg = `You have an open ${because}, so the margin mode cannot be switched`;
        return ['3400045', 'Set margin mode failed', { reasons: [{ reasonCode: '3400000', reasonMsg }] }];
      }
      return because === 'position'
        ? ['110024', 'You have an existing position, so position mode cannot be switched']
        : ['110028', 'Open orders exist, so you cannot change position mode'];
    },
  },
};

const BYBIT_FIELDS = {
  size: 'Qty',
  price: 'Price',
  'stop loss': 'StopLoss',
  'take profit': 'TakeProfit',
} as const;

/** Bybit multiplies prices in its messages by ten thousand. */
const scaled = (price: Decimal) => toPlain(price.times(10_000));
