import {
  currentPriceAnswer,
  currentPriceParams,
  currentPriceQuery,
  generateAnswer,
  generateBody,
  previewAnswer,
  previewBody,
} from '#contract/position-generator.ts';
import { DEFAULT_CURRENCY } from '#domain/token.ts';
import { DEFAULT_USER_SETTINGS } from '#domain/user-settings.ts';
import { deny } from '#domain/workflow/denials.ts';
import { findTradingSettings } from '#server/admin/settings/settings.store.ts';
import type { Deps } from '#server/deps.ts';
import { required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { CHANGES_NOTHING } from '#server/platform/http/write-rules.ts';
import { generateByHand, previewPosition } from './calculate-by-hand.ts';
import { createCurrentPrices } from './current-price.ts';

/** The calculator: current price, calculation and preview. Trades nothing. */
export function registerPositionGeneratorRoutes(app: App, deps: Deps): void {
  const admin = routeOptions({ access: 'admin', tags: ['position generator'] });
  const prices = createCurrentPrices(deps);

  app.get(
    '/api/current-price/:symbol',
    admin({ params: currentPriceParams, querystring: currentPriceQuery, answer: currentPriceAnswer }),
    async ({ params: { symbol }, query: { userId, marketType } }) => {
      const fallback = (message: string) => ({ success: false, data: null, fallbackRequired: true, message });
      if (marketType !== undefined && marketType.toLowerCase() !== 'futures') {
        return fallback(deny('market_type_unavailable', { marketType }).reason);
      }
      const token = symbol.slice(0, -DEFAULT_CURRENCY.length);
      const wanted = await findPlatform(userId);
      const platform = deps.exchanges.supported.find((one) => one === wanted);
      if (platform === undefined) {
        const context = { exchange: wanted, mode: deps.config.exchangeMode };
        return fallback(deny('exchange_unsupported', context).reason);
      }
      const exchange = deps.exchanges.get(platform);
      const current = await prices.read({ exchange, token, viewerUserId: userId ?? null });
      if (!current.ok) return fallback(sentenceOf(current.problem));
      const data = { currentPrice: current.price, source: sourceOf(platform) };
      return { success: true, data, fallbackRequired: false };
    },
  );

  async function findPlatform(userId: string | undefined): Promise<string> {
    if (userId === undefined) return DEFAULT_USER_SETTINGS.exchangePlatform;
    return required(await findTradingSettings(deps.db, userId), 'settingsNotFound').exchangePlatform;
  }

  /** Names the mode, because paper and demo prices are not market prices. */
  const sourceOf = (platform: string) =>
    deps.config.exchangeMode === 'live' ? platform : `${platform} (${deps.config.exchangeMode})`;

  app.post(
    '/api/internal/position-generator/generate',
    admin({ write: CHANGES_NOTHING, body: generateBody, answer: generateAnswer }),
    ({ body }) => generateByHand({ ...deps, prices }, body),
  );

  app.post(
    '/api/internal/position-generator/preview',
    admin({ write: CHANGES_NOTHING, body: previewBody, answer: previewAnswer }),
    ({ body }) => previewPosition({ ...deps, prices }, body),
  );
}

const sentenceOf = (clause: string) => clause.charAt(0).toUpperCase() + clause.slice(1);
