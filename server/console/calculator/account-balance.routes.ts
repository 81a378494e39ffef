import { userIdParams } from '#contract/paging.ts';
import { accountBalance } from '#contract/position-maker.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { deny } from '#domain/workflow/denials.ts';
import { findTradingSettings } from '#server/admin/settings/settings.store.ts';
import type { Deps } from '#server/deps.ts';
import { rememberBalance } from '#server/engine/sizing/position-generator.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';

export function registerAccountBalanceRoutes(app: App, deps: Deps): void {
  app.get(
    '/api/admin/account-balance/:userId',
    {
      config: { access: 'admin' },
      schema: { tags: ['position maker'], params: userIdParams, response: { 200: accountBalance } },
    },
    async ({ params: { userId } }) => {
      const settings = await findTradingSettings(deps.db, userId);
      if (settings === null) throw new AppError('settingsNotFound');
      const platform = EXCHANGE_PLATFORMS.find((one) => one === settings.exchangePlatform);
      if (platform === undefined || !deps.exchanges.supported.includes(platform)) {
        const context = { exchange: settings.exchangePlatform, mode: deps.config.exchangeMode };
        throw new AppError('unavailable', { message: deny('exchange_unsupported', context).reason });
      }
      const account = await deps.findAccount(userId, platform);
      if (account === null) {
        const denial = await deps.accountGuard.deny(userId, platform);
        const { reason } = denial ?? deny('exchange_not_connected', { exchange: platform });
        throw new AppError('unavailable', { message: reason });
      }
      try {
        const readAt = deps.clock.now();
        const balance = await deps.exchanges.get(platform).fetchBalance(account, { includeSpot: true });
        const { futuresBalance, futuresAvailable, futuresLocked } = balance;
        await rememberBalance(deps.db, { userId, exchangePlatform: platform, futuresAvailable, readAt });
        const { spotBalance, spotAvailable, spotLocked } = balance;
        return {
          success: true as const,
          data: {
            exchangePlatform: platform,
            futuresBalance,
            futuresAvailable,
            futuresLocked,
            futuresInPositions: toPlain(D(futuresBalance).minus(futuresAvailable).minus(futuresLocked)),
            spotBalance: spotBalance ?? '0',
            spotAvailable: spotAvailable ?? '0',
            spotLocked: spotLocked ?? '0',
            displayFuturesBalance: dollars(futuresBalance),
            displaySpotBalance: dollars(spotBalance ?? '0'),
            displayFuturesAvailable: dollars(futuresAvailable),
            displaySpotAvailable: dollars(spotAvailable ?? '0'),
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
