import type { ExchangePlatform } from '#domain/user-settings.ts';
import { VenueRefusal } from './refusals.ts';

/* What a test says about a contract; every other one trades, without an end. */

export interface VenueContract {
  platform: ExchangePlatform;
  token: string;
  /** In the exchange's own word, such as `limit_open` or `Closed`. */
  status?: string;
  endsAt?: Date;
  /** Positions in it are answered without a size. */
  isSizeMissing?: boolean;
}

export interface VenueContracts {
  set(contracts: readonly VenueContract[]): void;
  of(platform: ExchangePlatform, token: string): VenueContract;
  statusOf(platform: ExchangePlatform, token: string): string;
  /** Refuses an order that opens a position in a contract that does not. */
  requireOpen(platform: ExchangePlatform, token: string): void;
}

const OPEN: Record<ExchangePlatform, string> = { Bitget: 'normal', Bybit: 'Trading' };

export function createVenueContracts(): VenueContracts {
  let known: readonly VenueContract[] = [];
  const of = (platform: ExchangePlatform, token: string) =>
    known.find((one) => one.platform === platform && one.token === token) ?? { platform, token };
  const statusOf = (platform: ExchangePlatform, token: string) =>
    of(platform, token).status ?? OPEN[platform];
  return {
    set(contracts) {
      known = contracts;
    },
    of,
    statusOf,
    requireOpen(platform, token) {
      if (statusOf(platform, token) === OPEN[platform]) return;
      if (platform === 'Bybit') throw new VenueRefusal('110023', 'Can only reduce position');
      throw new VenueRefusal('22004', `This symbol ${token}USDT not support API trade`);
    },
  };
}
