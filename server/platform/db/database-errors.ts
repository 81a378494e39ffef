/** Drizzle wraps the driver's errors: the code stands on the cause. */
export function databaseErrorCode(error: unknown): string | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = 'code' in at ? at.code : undefined;
    if (typeof code === 'string') return code;
  }
  return null;
}

/** A value or a constraint was at fault (classes 22 and 23), not the connection or the server. */
export function isDataFault(error: unknown): boolean {
  return /^2[23]/.test(databaseErrorCode(error) ?? '');
}

export const isUniqueViolation = (error: unknown): boolean => databaseErrorCode(error) === '23505';
