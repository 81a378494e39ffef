import type { Exchange, ExchangeAccount } from '../exchange.ts';

/**
 * One port for both kinds of account of an exchange: what concerns an account goes to the client of its kind, everything
 * public to the first. A key is asked about as one of the kind that its credentials name, then, if the exchange says that
 * it is of the other kind, as one of that.
 */
export function forBothKinds(first: Exchange, second: Exchange): Exchange {
  const ofKind = (accountMode: Exchange['accountMode']) =>
    accountMode === second.accountMode ? second : first;
  const of = ({ credentials }: ExchangeAccount) => ofKind(credentials.accountMode);
  return {
    ...first,
    accountModes: [first.accountMode, second.accountMode],
    async inspectKey(account, ...more) {
      const asked = of(account);
      const key = await asked.inspectKey(account, ...more);
      const { accountMode } = key;
      if (accountMode === asked.accountMode) return key;
      const credentials = { ...account.credentials, accountMode };
      return ofKind(accountMode).inspectKey({ ...account, credentials }, ...more);
    },
    describeOrder: (order, accountMode = first.accountMode) => ofKind(accountMode).describeOrder(order),
    fetchBalance: (account, ...more) => of(account).fetchBalance(account, ...more),
    readTradeAccount: (account, ...more) => of(account).readTradeAccount(account, ...more),
    prepareAccount: (account, ...more) => of(account).prepareAccount(account, ...more),
    placeOrder: (account, ...more) => of(account).placeOrder(account, ...more),
    findOrder: (account, ...more) => of(account).findOrder(account, ...more),
    cancelOrder: (account, ...more) => of(account).cancelOrder(account, ...more),
    fetchOpenOrders: (account, ...more) => of(account).fetchOpenOrders(account, ...more),
    fetchPosition: (account, ...more) => of(account).fetchPosition(account, ...more),
    fetchFill: (account, ...more) => of(account).fetchFill(account, ...more),
    fetchHolding: (account, ...more) => of(account).fetchHolding(account, ...more),
    fetchProtection: (account, ...more) => of(account).fetchProtection(account, ...more),
    placeProtection: (account, ...more) => of(account).placeProtection(account, ...more),
    moveProtection: (account, ...more) => of(account).moveProtection(account, ...more),
    fetchHoldings: (account, ...more) => of(account).fetchHoldings(account, ...more),
    fetchClosedPositions: (account, ...more) => of(account).fetchClosedPositions(account, ...more),
    fetchLedger: (account, ...more) => of(account).fetchLedger(account, ...more),
    findClosingOrder: (account, ...more) => of(account).findClosingOrder(account, ...more),
    cancelProtection: (account, ...more) => of(account).cancelProtection(account, ...more),
    closePosition: (account, ...more) => of(account).closePosition(account, ...more),
  };
}
