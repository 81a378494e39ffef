import type { Feed } from '#contract/feeds.ts';

export const FEEDS = '/api/feeds';

export const feedName = ({ token, timeframe, processor }: Feed): string =>
  [token, timeframe, processor].filter(Boolean).join(' ');
