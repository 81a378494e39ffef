import { z } from 'zod';

export const accountBalance = z.object({
  success: z.literal(true),
  data: z.object({
    exchangePlatform: z.string(),
    futuresBalance: z.string(),
    spotBalance: z.string(),
    displayFuturesBalance: z.string(),
    displaySpotBalance: z.string(),
    futuresAvailable: z.string(),
    spotAvailable: z.string(),
    futuresLocked: z.string(),
    spotLocked: z.string(),
    displayFuturesAvailable: z.string(),
    displaySpotAvailable: z.string(),
  }),
});
export type AccountBalanceAnswer = z.infer<typeof accountBalance>;
