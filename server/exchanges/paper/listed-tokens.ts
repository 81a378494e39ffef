import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { PaperBooks } from './paper-books.ts';
import { hasContract, isTokenName } from './paper-contracts.ts';

type Listing = Pick<PaperBooks, 'db' | 'marks' | 'knownTokens'>;

/** The tokens with a contract: the built-in ones and every other that has a price. */
export async function listedTokens(
  { db, marks, knownTokens }: Listing,
  platform: ExchangePlatform,
): Promise<string[]> {
  for (const token of await marks.tokens({ db })) if (isTokenName(token)) knownTokens.add(token);
  return [...knownTokens].filter((token) => hasContract(platform, token));
}

export async function isListed(books: Listing, platform: ExchangePlatform, token: string): Promise<boolean> {
  if (!hasContract(platform, token)) return false;
  return books.knownTokens.has(token) || (await listedTokens(books, platform)).includes(token);
}
