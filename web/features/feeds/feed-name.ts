import type { Feed } from '#contract/feeds.ts';
import { displayTimeframe } from '#domain/timeframe.ts';

export const FEEDS = '/api/feeds';

export const feedName = ({ token, timeframe, processor }: Feed): string =>
  [token, displayTimeframe(timeframe), processor].filter(Boolean).join(' ');
