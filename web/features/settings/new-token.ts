import type { ErrorBody } from '#contract/errors.ts';
import type { CreateTokenBody, MAX_TOKEN_NAME, TOKEN_SCOPES, TokenScope } from '#contract/tokens.ts';

export const tokensPath = '/api/tokens';

/** Copies of the contract's values, kept equal by their types: importing its module would bundle zod. */
const SCOPES: typeof TOKEN_SCOPES = ['read', 'trade', 'admin'];
export const MAX_NAME: typeof MAX_TOKEN_NAME = 60;

export const SCOPE_TEXTS: Record<TokenScope, { label: string; description: string }> = {
  read: { label: 'Read', description: 'See everything that you can see here' },
  trade: {
    label: 'Trade',
    description: 'Trigger workflows, place orders, stop trading and close positions, as far as you may',
  },
  admin: { label: 'Admin', description: 'Manage users, their settings and this installation' },
};

/** Only administrators can give a token their rights. */
export const scopesFor = (isAdmin: boolean): TokenScope[] =>
  SCOPES.filter((scope) => isAdmin || scope !== 'admin');

export const EXPIRY_CHOICES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'Never' },
];

export interface NewToken {
  name: string;
  scopes: readonly TokenScope[];
  /** In days; empty for never. */
  expiry: string;
}

export const EMPTY_NEW_TOKEN: NewToken = { name: '', scopes: ['read'], expiry: '90' };

type Errors = Partial<Record<keyof NewToken, string>>;

export const newTokenErrors = ({ name, scopes }: NewToken): Errors => ({
  ...(name.trim() === '' ? { name: 'Name is required' } : {}),
  ...(scopes.length === 0 ? { scopes: 'Choose at least one scope' } : {}),
});

/** In the order of the choices, however they were chosen. */
export const toggled = (scopes: readonly TokenScope[], scope: TokenScope): TokenScope[] =>
  SCOPES.filter((one) => scopes.includes(one) !== (one === scope));

const DAY_MS = 86_400_000;

export const newTokenBody = ({ name, scopes, expiry }: NewToken, nowMs: number): CreateTokenBody => ({
  name: name.trim(),
  scopes: [...scopes],
  expiresAt: expiry === '' ? null : new Date(nowMs + Number(expiry) * DAY_MS).toISOString(),
});

/** The server's first error per field. */
export function refusedFields(body: Partial<ErrorBody> | undefined): Errors {
  const named = body?.errors?.filter(({ path }) => path in EMPTY_NEW_TOKEN) ?? [];
  return Object.fromEntries(named.toReversed().map(({ path, message }) => [path, message]));
}
