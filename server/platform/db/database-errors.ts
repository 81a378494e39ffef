export const databaseErrorCode = (error: unknown): string | null =>
  causesOf(error).find(({ code }) => code !== undefined)?.code ?? null;

/** A value or a constraint caused the error (classes 22 and 23), not the connection or the server. */
export const isDataFault = (error: unknown): boolean => /^2[23]/.test(databaseErrorCode(error) ?? '');

export const isUniqueViolation = (error: unknown): boolean => databaseErrorCode(error) === '23505';

/** SQLSTATE classes and codes after which the same request may succeed a little later. */
const UNAVAILABLE_STATES = /^(08...|53...|57P0[1-5]|57014|25006|40001|40P01|55P03|58...)$/;

/** From the database: a statement breaks the protocol. From a pooler, with severity FATAL: it has no connection. */
const PROTOCOL_VIOLATION = '08P01';

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Errors of pg without a code. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Cannot use a pool after calling end|Client was closed|Client has encountered a connection error)/;

const MAX_CAUSES = 8;

/** The database cannot be reached, or cannot take the request at the moment. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return causesOf(error).some(({ code, message, syscall, severity }) => {
    if (code === undefined) return CONNECTION_MESSAGES.test(message);
    // The socket file is missing while an embedded server is down.
    if (code === 'ENOENT') return syscall === 'connect';
    if (code === PROTOCOL_VIOLATION) return severity === 'FATAL';
    return CONNECTION_CODES.has(code) || UNAVAILABLE_STATES.test(code);
  });
}

/** The database did not answer in time, and may still do so. */
export const isUnanswered = (error: unknown): boolean =>
  causesOf(error).some(({ message }) => message === 'Query read timeout');

interface Cause {
  message: string;
  code: string | undefined;
  syscall: string | undefined;
  severity: string | undefined;
}

// Drizzle wraps the driver's error, and a connection attempt over several addresses is an AggregateError.
function causesOf(error: unknown): Cause[] {
  const found: Cause[] = [];
  const waiting: unknown[] = [error];
  while (waiting.length > 0 && found.length < MAX_CAUSES) {
    const next = waiting.shift();
    if (!(next instanceof Error)) continue;
    found.push({
      message: next.message,
      code: textOf(next, 'code'),
      syscall: textOf(next, 'syscall'),
      severity: textOf(next, 'severity'),
    });
    waiting.push(next.cause, ...(next instanceof AggregateError ? next.errors : []));
  }
  return found;
}

function textOf(error: Error, key: string): string | undefined {
  const value: unknown = Reflect.get(error, key);
  return typeof value === 'string' ? value : undefined;
}
