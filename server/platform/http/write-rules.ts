import type { AuditAction } from '#contract/audit.ts';
import type { TokenScope } from '#contract/tokens.ts';

/** What a route that changes something declares about itself; without it the start fails. */
export interface WriteRule {
  /**
   * Whether the session must be stepped up. `password`: the body has the password. `handler`: depends on the input, so
   * the handler calls `requireStepUp`. `never`: what makes things safer, or changes nothing that a thief could use.
   */
  stepUp: 'always' | 'outsidePaper' | 'password' | 'handler' | 'never';
  /** The entries that it can leave in the audit trail; empty where it changes nothing. */
  audit: readonly AuditAction[];
  /** The scope that an API token needs; null: never with a token. */
  token: TokenScope | null;
}

/** For routes that take a body but only read or compute. */
export const CHANGES_NOTHING = { stepUp: 'never', audit: [], token: 'read' } as const satisfies WriteRule;
