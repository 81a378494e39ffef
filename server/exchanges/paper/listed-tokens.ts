import type { ExchangePlatform } from '#domain/user-settings.ts';
import { hasContract, isTokenName } from './paper-contracts.ts';
import type { PaperContext } from './paper-session.ts';

type ListingContext = Pick<PaperContext, 'db' | 'marks' | 'knownTokens'>;

/** The tokens with a contract: the built-in ones and every other that has a price. */
export async function listedTokens(
  { db, marks, knownTokens }: ListingContext,
  platform: ExchangePlatform,
): Promise<string[]> {
  for (const token of await marks.tokens({ db })) if (isTokenName(token)) knownTokens.add(token);
  return [...knownTokens].filter((token) => hasContract(platform, token));
}

export async function isListed(
  context: ListingContext,
  platform: ExchangePlatform,
  token: string,
): Promise<boolean> {
  if (!hasContract(platform, token)) return false;
  return context.knownTokens.has(token) || (await listedTokens(context, platform)).includes(token);
}
