import { userIdParams } from '#contract/paging.ts';
import { accountBalance } from '#contract/position-maker.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import { findTradingSettings } from '#server/admin/settings/settings.store.ts';
import type { Deps } from '#server/deps.ts';
import { rememberBalance } from '#server/engine/sizing/position-generator.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';

export function registerAccountBalanceRoutes(app: App, deps: Deps): void {
  const admin = routeOptions({ access: 'admin', tags: ['position maker'] });
  const unavailable = ({ reason }: Denial) => new AppError('unavailable', { message: reason });

  app.get(
    '/api/admin/account-balance/:userId',
    admin({ params: userIdParams, answer: accountBalance }),
    async ({ params: { userId } }) => {
      const settings = required(await findTradingSettings(deps.db, userId), 'settingsNotFound');
      const exchange = settings.exchangePlatform;
      const platform = deps.exchanges.supported.find((one) => one === exchange);
      if (platform === undefined) {
        throw unavailable(deny('exchange_unsupported', { exchange, mode: deps.config.exchangeMode }));
      }
      const account = await deps.findAccount(userId, platform);
      if (account === null) {
        const denial = await deps.accountGuard.deny(userId, platform);
        throw unavailable(denial ?? deny('exchange_not_connected', { exchange }));
      }
      try {
        const readAt = deps.clock.now();
        const balance = await deps.exchanges.get(platform).fetchBalance(account, { includeSpot: true });
        const { futuresBalance, futuresAvailable, futuresLocked } = balance;
        await rememberBalance(deps.db, { userId, exchangePlatform: platform, futuresAvailable, readAt });
        const spotBalance = balance.spotBalance ?? '0';
        const spotAvailable = balance.spotAvailable ?? '0';
        return {
          success: true as const,
          data: {
            exchangePlatform: platform,
            futuresBalance,
            futuresAvailable,
            futuresLocked,
            futuresInPositions: toPlain(D(futuresBalance).minus(futuresAvailable).minus(futuresLocked)),
            spotBalance,
            spotAvailable,
            spotLocked: balance.spotLocked ?? '0',
            displayFuturesBalance: dollars(futuresBalance),
            displaySpotBalance: dollars(spotBalance),
            displayFuturesAvailable: dollars(futuresAvailable),
            displaySpotAvailable: dollars(spotAvailable),
          },
        };
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
        throw new AppError('unavailable', { message: `Balance API Error: ${error.message}`, cause: error });
      }
    },
  );
}

const dollars = (amount: string): string => `$${D(amount).toFixed(2)}`;
