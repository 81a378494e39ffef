import type { OpenPositionView } from '#contract/positions.ts';

/** A user has at most one position in a token and direction at an exchange. */
export const positionId = ({ userId, exchangePlatform, token, side }: OpenPositionView): string =>
  `${userId} ${exchangePlatform} ${token} ${side}`;
