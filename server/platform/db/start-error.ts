/** Why the program cannot start or continue, as one line for the operator; printed without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
