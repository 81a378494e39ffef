import { isTokenName } from './paper-contracts.ts';
import type { PaperContext } from './paper-session.ts';

type ListingContext = Pick<PaperContext, 'db' | 'marks' | 'knownTokens'>;

/** The tokens with a contract: the built-in ones and every other that has a price. */
export async function listedTokens({ db, marks, knownTokens }: ListingContext): Promise<string[]> {
  for (const token of await marks.tokens({ db })) if (isTokenName(token)) knownTokens.add(token);
  return [...knownTokens];
}

export async function isListed(context: ListingContext, token: string): Promise<boolean> {
  return context.knownTokens.has(token) || (await listedTokens(context)).includes(token);
}
