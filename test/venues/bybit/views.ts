import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import type { Contract } from '#server/exchanges/exchange.ts';
import {
  type AccountBalances,
  type AccountBook,
  liveTrigger,
  type PaperPosition,
  positionModeOf,
  type TokenBook,
  unrealisedProfit,
} from '#server/exchanges/paper/book.ts';
import { bankruptcyPrice, liquidationPrice } from '#server/exchanges/paper/matching.ts';
import { MAINTENANCE_MARGIN_RATE } from '#server/exchanges/paper/paper-contracts.ts';
import { decimalPlaces } from '../parameters.ts';

/* Converts rows to Bybit's JSON: numbers as text, missing values as empty text, fees positive where they were paid. */

export const millis = (at: Date) => String(at.getTime());
export const plain = (value: Decimal) => toPlain(value);
export const orEmpty = (value: Decimal | null | undefined) => (value ? toPlain(value) : '');
export const sideView = (side: 'buy' | 'sell' | 'long' | 'short') =>
  side === 'buy' || side === 'long' ? 'Buy' : 'Sell';

const LAUNCHED_AT = '1585526400000';

export function instrumentView(contract: Contract) {
  return {
    symbol: contract.symbol,
    contractType: 'LinearPerpetual',
    status: 'Trading',
    baseCoin: contract.token,
    quoteCoin: 'USDT',
    launchTime: LAUNCHED_AT,
    deliveryTime: '0',
    deliveryFeeRate: '',
    priceScale: String(decimalPlaces(contract.tickSize)),
    leverageFilter: {
      minLeverage: '1',
      maxLeverage: D(contract.maximumLeverage).toFixed(2),
      leverageStep: '0.01',
    },
    priceFilter: { minPrice: contract.tickSize, maxPrice: '1999999.8', tickSize: contract.tickSize },
    lotSizeFilter: {
      maxOrderQty: '',
      minOrderQty: contract.minimumQuantity,
      qtyStep: contract.quantityStep,
      postOnlyMaxOrderQty: '',
      maxMktOrderQty: '',
      minNotionalValue: contract.minimumNotional,
    },
    unifiedMarginTrade: true,
    fundingInterval: 480,
    settleCoin: 'USDT',
    copyTrading: 'none',
    upperFundingRate: '0.00375',
    lowerFundingRate: '-0.00375',
    isPreListing: false,
    preListingInfo: null,
  };
}

export function tickerView(symbol: string, price: string) {
  return {
    symbol,
    lastPrice: price,
    indexPrice: price,
    markPrice: price,
    prevPrice24h: price,
    price24hPcnt: '0',
    highPrice24h: price,
    lowPrice24h: price,
    prevPrice1h: price,
    openInterest: '0',
    openInterestValue: '0',
    turnover24h: '0',
    volume24h: '0',
    fundingRate: '0',
    nextFundingTime: '0',
    predictedDeliveryPrice: '',
    basisRate: '',
    deliveryFeeRate: '',
    deliveryTime: '0',
    ask1Size: '0',
    bid1Price: price,
    ask1Price: price,
    bid1Size: '0',
    basis: '',
  };
}

/** With isolated margin the account-wide figures are empty, as on the real exchange. */
export function walletView(account: AccountBook, balances: AccountBalances) {
  const isIsolated = account.marginMode === 'isolated';
  const wholeAccount = (value: Decimal) => (isIsolated ? '' : plain(value));
  const { available, locked, margin, equity, unrealisedProfit: unrealised } = balances;
  const used = margin.plus(locked);
  return {
    totalEquity: plain(equity),
    accountIMRate: wholeAccount(equity.isZero() ? D(0) : used.div(equity).toDecimalPlaces(4)),
    totalMarginBalance: wholeAccount(equity),
    totalInitialMargin: wholeAccount(used),
    accountType: 'UNIFIED',
    totalAvailableBalance: wholeAccount(available),
    accountMMRate: wholeAccount(D(0)),
    totalPerpUPL: plain(unrealised),
    totalWalletBalance: plain(account.balance),
    accountLTV: wholeAccount(D(0)),
    totalMaintenanceMargin: wholeAccount(D(0)),
    coin: [
      {
        availableToBorrow: '',
        bonus: '0',
        accruedInterest: '0',
        // No longer reported for unified accounts.
        availableToWithdraw: '',
        totalOrderIM: plain(locked),
        equity: plain(equity),
        totalPositionMM: '0',
        usdValue: plain(equity),
        unrealisedPnl: plain(unrealised),
        collateralSwitch: true,
        spotHedgingQty: '0',
        borrowAmount: '0',
        totalPositionIM: plain(margin),
        walletBalance: plain(account.balance),
        cumRealisedPnl: plain(account.realisedProfit.minus(account.feesPaid)),
        locked: '0',
        marginCollateral: true,
        coin: 'USDT',
      },
    ],
  };
}

/** A queried symbol has a row whether or not there is a position: two rows in hedge mode. */
export function positionViews(account: AccountBook, book: TokenBook, mark: Decimal | null) {
  const held = book.position ? heldView(book, book.position, mark) : null;
  if (positionModeOf(account, book) === 'one_way_mode') return [held ?? emptyView(book, mark, 0)];
  return [emptyView(book, mark, 1), emptyView(book, mark, 2)];
}

export function heldView(book: TokenBook, position: PaperPosition, mark: Decimal | null) {
  const value = position.size.times(mark ?? position.entryPrice);
  return {
    ...emptyView(book, mark, 0),
    side: sideView(position.side),
    size: plain(position.size),
    avgPrice: plain(position.entryPrice),
    positionValue: plain(position.entryPrice.times(position.size)),
    leverage: String(position.leverage),
    positionBalance: plain(position.margin),
    positionIM: plain(position.margin),
    positionMM: plain(value.times(MAINTENANCE_MARGIN_RATE)),
    liqPrice: plain(liquidationPrice(position).toDecimalPlaces(12)),
    bustPrice: plain(bankruptcyPrice(position)),
    takeProfit: orEmpty(liveTrigger(book, 'pos_profit')?.triggerPrice),
    stopLoss: orEmpty(liveTrigger(book, 'pos_loss')?.triggerPrice),
    unrealisedPnl: mark ? plain(unrealisedProfit(position, mark)) : '0',
    curRealisedPnl: plain(position.realisedProfit),
    cumRealisedPnl: plain(position.realisedProfit),
    createdTime: millis(position.openedAt),
    updatedTime: millis(position.updatedAt),
  };
}

const emptyView = (book: TokenBook, mark: Decimal | null, positionIdx: number) => ({
  positionIdx,
  riskId: 1,
  riskLimitValue: '2000000',
  symbol: `${book.token}USDT`,
  side: '',
  size: '0',
  avgPrice: '0',
  positionValue: '',
  // Always 0 for unified accounts: their margin mode is an account setting.
  tradeMode: 0,
  autoAddMargin: 0,
  positionStatus: 'Normal',
  leverage: String(book.leverage),
  markPrice: orEmpty(mark),
  liqPrice: '',
  bustPrice: '',
  positionIM: '',
  positionMM: '',
  positionBalance: '0',
  tpslMode: 'Full',
  takeProfit: '',
  stopLoss: '',
  trailingStop: '0',
  sessionAvgPrice: '',
  unrealisedPnl: '',
  curRealisedPnl: '0',
  cumRealisedPnl: '0',
  adlRankIndicator: 0,
  isReduceOnly: false,
  mmrSysUpdatedTime: '',
  leverageSysUpdatedTime: '',
  createdTime: '',
  updatedTime: '',
  seq: -1,
});
