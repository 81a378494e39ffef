import { z } from 'zod';
import { instantText } from './paging.ts';
import { plainText } from './text.ts';

/** `trade` may trigger, order, stop and close; each scope includes nothing of the others. `admin`: only administrators. */
export const TOKEN_SCOPES = ['read', 'trade', 'admin'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

export const TOKEN_PREFIX = 'sb_';
export const MAX_TOKEN_NAME = 60;
export const LONGEST_TOKEN_DAYS = 366;

export const createTokenBody = z.object({
  name: plainText('Name', MAX_TOKEN_NAME).trim().min(1, 'Name is required'),
  scopes: z.array(z.enum(TOKEN_SCOPES)).min(1, 'Choose at least one scope').max(TOKEN_SCOPES.length),
  /** Null: until it is deleted. */
  expiresAt: instantText.nullable(),
});
export type CreateTokenBody = z.infer<typeof createTokenBody>;

export const apiToken = z.object({
  id: z.string(),
  name: z.string(),
  /** The end of the token, to tell tokens apart: `…x7Qk`. */
  hint: z.string(),
  scopes: z.array(z.enum(TOKEN_SCOPES)),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
});
export type ApiToken = z.infer<typeof apiToken>;

export const apiTokens = z.object({ tokens: z.array(apiToken) });
export type ApiTokens = z.infer<typeof apiTokens>;

/** The only answer that has the whole token. */
export const createdToken = apiToken.extend({ token: z.string() });
export type CreatedToken = z.infer<typeof createdToken>;
