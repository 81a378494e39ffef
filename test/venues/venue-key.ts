/** What the venue says of an account's key when it is asked. */
export interface VenueKey {
  mayTrade: boolean;
  mayWithdraw: boolean;
  /** The account's kind, where it is not the one that the dialect is for. */
  accountMode?: 'classic' | 'unified';
  /** The answer leaves out to which account the key belongs. */
  hidesAccount?: boolean;
}

export const TRADING_KEY: VenueKey = { mayTrade: true, mayWithdraw: false };
